package selection

import (
	"sync"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Limits of a cache, over all selections of a policy.
const (
	maxTables = 64
	maxRows   = 400_000
)

// Cache keeps what selections know of their candidates, by the list that these
// come from. It belongs to one policy and serves all of its keys.
type Cache struct {
	mu     sync.Mutex
	tables []*table // the last used first
}

// find returns the table of a list, and beside it the one that shares most of
// its items.
func (c *Cache) find(s *plan.Select, list *value.List) (found, like *table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	best := 0
	for i, t := range c.tables {
		if t.sel != s {
			continue
		}
		if t.list == list {
			copy(c.tables[1:i+1], c.tables[:i])
			c.tables[0] = t
			return t, nil
		}
		if n := value.Shares(t.list, list); n > best {
			like, best = t, n
		}
	}
	return nil, like
}

// keep adds a table; what it was made from, or what was used least, makes room.
func (c *Cache) keep(t, like *table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := []*table{t}
	rows := t.rows
	for _, old := range c.tables {
		rows += old.rows
		if old != like && len(kept) < maxTables && rows <= maxRows {
			kept = append(kept, old)
		}
	}
	c.tables = kept
}
