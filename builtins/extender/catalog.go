package extender

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/edict-dev/edict/engine/expr"
)

// catalog is what is known of pools that are asked about together: what requests say
// of them, and where to find each. Nearly all requests are about the pools of an
// earlier one, or some of them, so that this is done once.
type catalog struct {
	// of are the candidates that name the pools.
	of expr.Candidates
	// text is what a request says of the pools, with a comma behind each; that of pool
	// i ends at ends[i].
	text []byte
	ends []int32
	// table has one more than the place of a pool, by the hash of its name; 0 is free.
	table []int32
	// repeated are the places of pools that stand there before, with the first place of
	// each.
	repeated [][2]int32
	// exact says that no two pools have the same text, as is so where all names are
	// written as they are.
	exact bool
	// order is that of an earlier answer.
	order atomic.Pointer[order]
}

// newCatalog makes the catalog of the pools that candidates name.
func newCatalog(of expr.Candidates) (*catalog, error) {
	memory := poolsPool.Get().(*[]pool)
	pools, err := poolsOf(*memory, of)
	defer func() {
		clear(pools) // they name values
		*memory = pools[:0]
		poolsPool.Put(memory)
	}()
	if err != nil {
		return nil, err
	}
	c := &catalog{of: of}
	c.write(pools)
	c.enter(pools)
	return c, nil
}

// poolsPool has memory for the pools of catalogs while these are made.
var poolsPool = sync.Pool{New: func() any { return &[]pool{} }}

// len returns how many pools there are.
func (c *catalog) len() int { return c.of.Len() }

// pool returns the pool at a place.
func (c *catalog) pool(row int) pool {
	p, _ := poolOf(c.of, row) // that it is one was seen when the catalog was made
	return p
}

func (c *catalog) write(pools []pool) {
	size := 0
	for i := range pools {
		size += pools[i].room()
	}
	c.text, c.ends = make([]byte, 0, size), make([]int32, len(pools))
	for i := range pools {
		c.text = append(pools[i].appendTo(c.text), ',')
		c.ends[i] = int32(len(c.text))
	}
	c.exact = len(c.text) == size // what is escaped is longer
}

var seed = maphash.MakeSeed()

func (c *catalog) enter(pools []pool) {
	size := 16
	for size < 2*len(pools) {
		size *= 2
	}
	c.table = make([]int32, size)
	for i := range pools {
		at := int(maphash.String(seed, pools[i].Name)) & (size - 1)
		for c.table[at] != 0 && pools[c.table[at]-1] != pools[i] {
			at = (at + 1) & (size - 1)
		}
		if first := c.table[at]; first != 0 {
			c.repeated = append(c.repeated, [2]int32{int32(i), first - 1})
			continue
		}
		c.table[at] = int32(i) + 1
	}
}

// said is what requests say of some pools that stand together, with a comma behind
// each.
func (c *catalog) said(from, to int) []byte { return c.text[c.begin(from):c.ends[to-1]] }

func (c *catalog) begin(i int) int32 {
	if i == 0 {
		return 0
	}
	return c.ends[i-1]
}

// rows returns the places of candidates, whose order has to be that of the catalog; nil
// is all. It returns false when they are others, or too few of many.
func (c *catalog) rows(candidates expr.Candidates) ([]int32, bool) {
	n := candidates.Len()
	switch {
	case n == 0 || n > c.len() || n*fewest < c.len():
		return nil, false
	case c.of.Of == candidates.Of && (c.of.Some == nil || candidates.Some == nil):
		return candidates.Some, true // without Some either has all
	case c.of.Of == candidates.Of:
		return places(candidates.Some, c.of.Some)
	}
	return c.byName(candidates)
}

// fewest is which share of a catalog is worth using it.
const fewest = 8

// places returns where some rows stand in a list of rows, both of them in order; false
// when one does not.
func places(rows, in []int32) ([]int32, bool) {
	out, at := make([]int32, 0, len(rows)), 0
	for _, row := range rows {
		for at < len(in) && in[at] < row {
			at++
		}
		if at == len(in) || in[at] != row {
			return nil, false
		}
		out = append(out, int32(at))
	}
	return out, true
}

// byName returns the places of candidates that are other objects.
func (c *catalog) byName(candidates expr.Candidates) ([]int32, bool) {
	at := c.next(candidates, 0, 0)
	if at < 0 { // most catalogs have none of the candidates
		return nil, false
	}
	out := make([]int32, 0, candidates.Len())
	for i := range candidates.Len() {
		if at = c.next(candidates, i, at); at < 0 {
			return nil, false
		}
		out = append(out, int32(at))
		at++
	}
	return out, true
}

// next returns the place of a candidate from a place on; -1 for none.
func (c *catalog) next(candidates expr.Candidates, i, from int) int {
	p, err := poolOf(candidates, i)
	if err != nil {
		return -1
	}
	if from < c.len() && c.pool(from) == p {
		return from
	}
	if at := c.find([]byte(p.Name), []byte(p.ThinPool)); at >= from {
		return at
	}
	return -1
}
