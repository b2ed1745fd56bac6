package world

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/benbjohnson/immutable"
)

// IndexFunc returns the keys under which an index finds an object. It may be called by
// several goroutines at once.
type IndexFunc func(*Object) []string

// index finds the objects of one version of a table by keys. It is made when it is first
// asked for: of the objects of a first list all at once, which takes a fraction of what
// adding one after the other does.
type index struct {
	keys IndexFunc
	// asked says that some version of the index was asked for. From then on each version is
	// made of the one before.
	asked *atomic.Bool
	once  sync.Once
	made  atomic.Pointer[sets]
}

// sets are the objects under each key.
type sets = immutable.Map[string, *ordered]

func newIndex(keys IndexFunc) *index { return &index{keys: keys, asked: &atomic.Bool{}} }

// of returns the index of some objects, which are sorted, and those of its table.
func (x *index) of(objects func() []*Object) *sets {
	if known := x.made.Load(); known != nil {
		return known
	}
	x.asked.Store(true)
	x.once.Do(func() { x.made.Store(indexed(x.keys, objects())) })
	return x.made.Load()
}

// indexed makes an index.
func indexed(keys IndexFunc, objects []*Object) *sets {
	found := map[string][]*Object{}
	for _, o := range objects {
		for _, k := range keys(o) {
			if list := found[k]; len(list) == 0 || list[len(list)-1] != o { // a key may come twice
				found[k] = append(list, o)
			}
		}
	}
	out := immutable.NewMapBuilder[string, *ordered](nil)
	for k, list := range found {
		out.Set(k, orderedOf(list))
	}
	return out.Map()
}

// next returns the index of the next version of a table, in which an object has taken the
// place of another; nil is none. The objects are those of that version.
func (x *index) next(old, now *Object, objects func() []*Object) *index {
	out := &index{keys: x.keys, asked: x.asked}
	if known := x.made.Load(); known != nil {
		out.made.Store(reindex(known, x.keys, old, now))
	} else if x.asked.Load() { // whoever asks next should not wait for all objects again
		out.of(objects)
	}
	return out
}

// fewKeys is up to how many keys a search is cheaper than a map.
const fewKeys = 16

// contains returns a function that reports whether a text is in a list.
func contains(list []string) func(string) bool {
	if len(list) <= fewKeys {
		return func(text string) bool { return slices.Contains(list, text) }
	}
	set := make(map[string]bool, len(list))
	for _, text := range list {
		set[text] = true
	}
	return func(text string) bool { return set[text] }
}

// reindex moves an object from its old keys to its new ones.
func reindex(in *sets, f IndexFunc, old, now *Object) *sets {
	var stay []string
	if now != nil {
		stay = f(now)
	}
	if old != nil {
		stays := contains(stay)
		for _, k := range f(old) {
			if stays(k) {
				continue
			}
			set, _ := in.Get(k)
			if set = set.without(old); set.empty() {
				in = in.Delete(k)
			} else {
				in = in.Set(k, set)
			}
		}
	}
	for _, k := range stay {
		set, _ := in.Get(k)
		in = in.Set(k, set.with(now))
	}
	return in
}
