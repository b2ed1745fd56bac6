package eval

import (
	"sync"

	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Shared keeps what does not depend on the key, for all keys of one policy:
// collections over lists that many keys read, and what selections know of
// their candidates. It is safe for concurrent use; its zero value is empty.
type Shared struct {
	selections selection.Cache

	mu          sync.Mutex
	collections []sharedCollection // the last used first
}

// sharedCollection is a collection over one list.
type sharedCollection struct {
	variable *plan.Variable
	list     *value.List
	memo     *collectionMemo
}

// maxCollections is how many collections are kept.
const maxCollections = 128

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

// keep adds a collection.
func (s *Shared) keep(v *plan.Variable, list *value.List, memo *collectionMemo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.collections[:min(len(s.collections), maxCollections-1)]
	s.collections = append([]sharedCollection{{v, list, memo}}, rest...)
}
