package verify

import (
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// alphabet makes the changes from outside that there may be.
type alphabet struct {
	world   *world
	schemas *schema.Set
}

// moves returns those of some objects.
func (a *alphabet) moves(objects []simulate.Object) (out []Move) {
	there := map[simulate.Identity]bool{}
	for _, o := range objects {
		id := simulate.ID(o)
		there[id] = true
		paths, read := a.world.reads[id.GVK()]
		if !read {
			continue
		}
		for _, path := range paths {
			out = append(out, a.edits(o, path)...)
		}
		for _, path := range parents(paths) {
			out = append(out, a.removals(o, path)...)
		}
		out = append(out, Move{Delete: &id})
	}
	for _, o := range slices.Concat(a.world.objects, a.world.spare) {
		if there[simulate.ID(o)] {
			continue
		}
		out = append(out, Move{Apply: o})
		if o["status"] != nil { // as it is before anybody has looked at it
			fresh := maps.Clone(o)
			delete(fresh, "status")
			out = append(out, Move{Apply: fresh})
		}
	}
	return out
}

// edits returns the changes of one field of an object: each of its places, where it is
// one of the items of a list.
func (a *alphabet) edits(o simulate.Object, path []string) (out []Move) {
	kind := gvkOf(o)
	t, _ := a.schemas.Kind(kind)
	at := place{typ: t}
	for _, p := range at.find(o, path) {
		for _, v := range a.values(p) {
			if patch := patched(o, p.names, v); patch != nil {
				out = append(out, Move{Patch: patch})
			}
		}
	}
	return out
}

// parents returns what fields are in, each once, but for the parts that every object
// has.
func parents(paths [][]string) (out [][]string) {
	for _, path := range paths {
		for n := 1; n < len(path); n++ {
			at := path[:n]
			known := slices.ContainsFunc(out, func(other []string) bool { return slices.Equal(at, other) })
			if !known && !slices.Contains([]string{"metadata", "status"}, strings.Join(at, ".")) && at[n-1] != each {
				out = append(out, at)
			}
		}
	}
	return out
}

// removals returns the changes that remove a field as a whole, where it may be absent.
func (a *alphabet) removals(o simulate.Object, path []string) (out []Move) {
	t, _ := a.schemas.Kind(gvkOf(o))
	for _, p := range (place{typ: t}).find(o, path) {
		if p.required || p.now == nil {
			continue
		}
		if patch := patched(o, p.names, nil); patch != nil {
			out = append(out, Move{Patch: patch})
		}
	}
	return out
}
