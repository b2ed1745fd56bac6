package world

import (
	"slices"
	"sync/atomic"

	"github.com/benbjohnson/immutable"
)

// ordered is an immutable set of objects, sorted by namespace and name. Adding
// or removing an object shares all but a few nodes with the set before, so that
// a first list of n objects costs n times a small, slowly growing amount.
type ordered struct {
	// few are the objects of a small set; a larger one has a tree.
	few  []*Object
	tree *immutable.SortedMap[string, *Object]
	// listed is the tree as a slice, made when it is first asked for.
	listed atomic.Pointer[[]*Object]
}

// maxFew is up to how many objects copying a slice is cheaper than a tree.
const maxFew = 32

// all returns the objects in order. The slice must not be changed.
func (s *ordered) all() []*Object {
	if s == nil {
		return nil
	}
	if s.tree == nil {
		return s.few
	}
	if list := s.listed.Load(); list != nil {
		return *list
	}
	list := make([]*Object, 0, s.tree.Len())
	for itr := s.tree.Iterator(); !itr.Done(); {
		_, o, _ := itr.Next()
		list = append(list, o)
	}
	s.listed.Store(&list)
	return list
}

// orderedOf makes the set of sorted objects. The slice belongs to it afterwards.
func orderedOf(list []*Object) *ordered {
	if len(list) <= maxFew {
		return &ordered{few: list}
	}
	b := immutable.NewSortedMapBuilder[string, *Object](nil)
	for _, one := range list {
		b.Set(one.key, one)
	}
	return &ordered{tree: b.Map()}
}

// has reports whether an object, in this version, is in the set.
func (s *ordered) has(o *Object) bool {
	if s == nil || s.tree == nil {
		return s != nil && slices.Contains(s.few, o)
	}
	have, _ := s.tree.Get(o.key)
	return have == o
}

func (s *ordered) empty() bool { return s == nil || s.tree == nil && len(s.few) == 0 }

// with returns the set with an object added or replaced.
func (s *ordered) with(o *Object) *ordered {
	switch {
	case s == nil:
		return &ordered{few: []*Object{o}}
	case s.tree != nil:
		return &ordered{tree: s.tree.Set(o.key, o)}
	}
	return orderedOf(insert(s.few, o))
}

// without returns the set without an object.
func (s *ordered) without(o *Object) *ordered {
	switch {
	case s == nil:
		return nil
	case s.tree == nil:
		return &ordered{few: remove(s.few, o)}
	}
	tree := s.tree.Delete(o.key)
	if tree.Len() > maxFew/2 {
		return &ordered{tree: tree}
	}
	return &ordered{few: slices.Clone((&ordered{tree: tree}).all())}
}
