package extender

import (
	"sync"

	"github.com/edict-dev/edict/engine/expr"
)

// Limits of what a client keeps: catalogs of at least so many pools, so many of them,
// and so many pools in all.
const (
	leastKept = 64
	mostKept  = 16
	poolsKept = 100_000
)

// catalogs are those of the last requests, the last used first.
type catalogs struct {
	mu   sync.Mutex
	list []*catalog
}

// question returns the question about candidates.
func (c *catalogs) question(candidates expr.Candidates) (*question, error) {
	for _, known := range c.last() {
		if rows, ok := known.rows(candidates); ok {
			c.keep(known)
			return &question{catalog: known, rows: rows}, nil
		}
	}
	if q := c.whole(candidates); q != nil {
		return q, nil
	}
	made, err := newCatalog(candidates)
	if err != nil {
		return nil, err
	}
	if made.len() >= leastKept && len(made.repeated) == 0 {
		c.keep(made)
	}
	return &question{catalog: made}, nil
}

// whole makes a catalog of all objects that candidates, which are most of them, belong
// to: the next request may be about others. It is nil where that cannot be.
func (c *catalogs) whole(candidates expr.Candidates) *question {
	if n := candidates.Len(); candidates.Some == nil || n < leastKept || 2*n < candidates.Of.Len() {
		return nil
	}
	made, err := newCatalog(expr.Candidates{Of: candidates.Of})
	if err != nil || len(made.repeated) > 0 {
		return nil
	}
	c.keep(made)
	return &question{catalog: made, rows: candidates.Some}
}

func (c *catalogs) last() []*catalog {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list
}

// keep puts a catalog first, and gives up those for which there is no room.
func (c *catalogs) keep(first *catalog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) > 0 && c.list[0] == first {
		return
	}
	kept, pools := []*catalog{first}, first.len()
	for _, old := range c.list {
		if old == first {
			continue
		}
		if pools += old.len(); len(kept) < mostKept && pools <= poolsKept {
			kept = append(kept, old)
		}
	}
	c.list = kept
}
