package eval

import (
	"slices"
	"sync"

	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Shared keeps what does not depend on the key, for all keys of one policy:
// inputs that they find the same objects for, variables that read nothing else, collections
// over lists that many keys read, and what selections know of their candidates. It is safe for concurrent use; its zero value is empty.
type Shared struct {
	selections selection.Cache
	inputs     sharedInputs
	variables  sharedVariables

	mu          sync.Mutex
	collections []sharedCollection // the last used first
}

// sharedCollection is a collection over one list.
type sharedCollection struct {
	variable *plan.Variable
	list     *value.List
	memo     *collectionMemo
}

// Limits of the collections that are kept: how many, and how many bytes their
// values have together.
const (
	maxCollections     = 128
	maxCollectionBytes = 64 << 20
)

// collection finds a variable's collection over a list; otherwise one over a
// list that has items in common with it.
func (s *Shared) collection(v *plan.Variable, list *value.List) (found, like *collectionMemo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.collections {
		if c.variable != v {
			continue
		}
		if c.list == list {
			copy(s.collections[1:i+1], s.collections[:i])
			s.collections[0] = c
			return c.memo, nil
		}
		if like == nil && value.Shares(c.list, list) > 0 {
			like = c.memo
		}
	}
	return nil, like
}

// keep adds a collection. Those that were used least make room.
func (s *Shared) keep(v *plan.Variable, list *value.List, memo *collectionMemo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes := memo.bytes()
	if bytes > maxCollectionBytes {
		return
	}
	s.collections = slices.Insert(s.collections, 0, sharedCollection{v, list, memo})
	kept := 1
	for _, c := range s.collections[1:] {
		if bytes += c.memo.bytes(); bytes <= maxCollectionBytes && kept < maxCollections {
			s.collections[kept] = c
			kept++
		}
	}
	clear(s.collections[kept:])
	s.collections = s.collections[:kept]
}

// bytes is what a collection takes in memory, apart from what its items name.
func (m *collectionMemo) bytes() int { return value.Built(m.value) + itemBytes*len(m.items) }
