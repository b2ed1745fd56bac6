package watch

import (
	"cmp"
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/eval"
)

// multiMap is a set of keys per text.
type multiMap map[string]*keySet

// keySet is a set of keys; most have one. Such a set is not changed, because others may
// have it, too.
type keySet struct {
	one  eval.Key
	more map[eval.Key]bool
}

func (s *keySet) each(visit func(eval.Key)) {
	if s.more == nil {
		visit(s.one)
	}
	for key := range s.more {
		visit(key)
	}
}

// each visits the keys of a text.
func (m multiMap) each(text string, visit func(eval.Key)) {
	if s, ok := m[text]; ok {
		s.each(visit)
	}
}

// add adds the key of which only is the set.
func (m multiMap) add(text string, only *keySet) {
	s, ok := m[text]
	switch {
	case !ok:
		m[text] = only
	case s.more != nil:
		s.more[only.one] = true
	case s.one != only.one:
		m[text] = &keySet{more: map[eval.Key]bool{s.one: true, only.one: true}}
	}
}

func (m multiMap) remove(text string, key eval.Key) {
	s, ok := m[text]
	switch {
	case !ok:
		return
	case s.more == nil && s.one == key:
		delete(m, text)
		return
	}
	if delete(s.more, key); s.more != nil && len(s.more) == 0 {
		delete(m, text)
	}
}

func sorted(set map[eval.Key]bool) []eval.Key {
	return slices.SortedFunc(maps.Keys(set), CompareKeys)
}

// CompareKeys orders keys by namespace and name.
func CompareKeys(a, b eval.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
