package extender

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/edict-dev/edict/engine/value"
)

// catalog is what is known of pools that are asked about together: what requests say
// of them, and where to find each. Nearly all requests are about the pools of an
// earlier one, or some of them, so that this is done once.
type catalog struct {
	// of are the candidates that name the pools.
	of []*value.Map
	// text is what a request says of the pools, with a comma behind each; that of pool
	// i ends at ends[i].
	text []byte
	ends []int32
	// table has one more than the place of a pool, by the hash of its name; 0 is free.
	table []int32
	// repeated are the places of pools that stand there before, with the first place of
	// each.
	repeated [][2]int32
	// exact says that no two pools have the same text.
	exact bool
	// order is that of an earlier answer.
	order atomic.Pointer[order]
}

// newCatalog makes the catalog of the pools that candidates name.
func newCatalog(of []*value.Map) (*catalog, error) {
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
	c := &catalog{of: of, exact: true}
	c.write(pools)
	c.enter(pools)
	return c, nil
}

// poolsPool has memory for the pools of catalogs while these are made.
var poolsPool = sync.Pool{New: func() any { return &[]pool{} }}

// len returns how many pools there are.
func (c *catalog) len() int { return len(c.of) }

// pool returns the pool at a place.
func (c *catalog) pool(row int) pool {
	p, _ := poolOf(c.of[row]) // that it is one was seen when the catalog was made
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
		c.exact = c.exact && utf8.ValidString(pools[i].Name) && utf8.ValidString(pools[i].ThinPool)
	}
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

// rows returns the places of candidates, whose order has to be that of the catalog;
// false when they are others, or too few of many.
func (c *catalog) rows(candidates []*value.Map) ([]int32, bool) {
	if len(candidates) > len(c.of) || len(candidates)*fewest < len(c.of) {
		return nil, false
	}
	at := c.next(candidates[0], 0)
	if at < 0 { // most catalogs have none of the candidates
		return nil, false
	}
	out := (*rowsPool.Get().(*[]int32))[:0]
	for _, candidate := range candidates {
		if at = c.next(candidate, at); at < 0 {
			rowsPool.Put(&out)
			return nil, false
		}
		out = append(out, int32(at))
		at++
	}
	return out, true
}

// rowsPool has lists of places for the next questions: they are as long as the questions.
var rowsPool = sync.Pool{New: func() any { return &[]int32{} }}

// fewest is which share of a catalog is worth using it.
const fewest = 8

// next returns the place of a candidate from a place on; -1 for none. A candidate that
// was made anew is found by its name.
func (c *catalog) next(candidate *value.Map, from int) int {
	for at := from; at < min(from+nearby, len(c.of)); at++ {
		if c.of[at] == candidate {
			return at
		}
	}
	p, err := poolOf(candidate)
	if err != nil {
		return -1
	}
	if at := c.find([]byte(p.Name), []byte(p.ThinPool)); at >= from {
		return at
	}
	return -1
}

// nearby is how many candidates are compared before one is looked for by its name.
const nearby = 16
