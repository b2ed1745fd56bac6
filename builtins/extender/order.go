package extender

// order is the order in which an answer named the pools of a catalog: the next one
// after each, and last the first of all; -1 is none.
type order []int32

// guess says which pool an answer names next: the one that an earlier answer named
// next, or that comes next in the catalog. Extenders sort by score, which changes
// little from one answer to another.
type guess struct {
	question *question
	notes    *notes
	order    order
	// next is the place of the pool in the catalog; -1 is none.
	next int
	// hops bounds how many pools are passed over, missed counts wrong guesses.
	hops, missed int
}

func newGuess(q *question, n *notes) guess {
	g := guess{question: q, notes: n, next: -1, hops: q.catalog.len()}
	if known := q.catalog.order.Load(); known != nil {
		g.order = *known
	}
	g.from(q.catalog.len())
	return g
}

// from guesses which pool that is asked about comes after one.
func (g *guess) from(at int) {
	g.next = -1
	if g.question.catalog.exact {
		g.next = g.following(at)
	}
}

// following returns the pool that is asked about and comes next; -1 is none.
func (g *guess) following(at int) int {
	for at = g.after(at); at >= 0 && g.notes.at(g.question, at) < 0; at = g.after(at) {
		if g.hops--; g.hops < 0 {
			return -1
		}
	}
	return at
}

func (g *guess) after(at int) int {
	pools := g.question.catalog.len()
	switch {
	case g.order != nil:
		return int(g.order[at])
	case at == pools:
		return 0
	case at+1 == pools:
		return -1
	}
	return at + 1
}

// came says which pool the answer named.
func (g *guess) came(row int) {
	if g.next != row {
		g.missed++
	}
	g.notes.came = append(g.notes.came, int32(row))
	g.from(row)
}

// learn keeps the order of an answer about most of the pools that came otherwise than
// expected.
func (g *guess) learn() {
	pools, came := g.question.catalog.len(), len(g.notes.came)
	if g.missed < came/8 || 2*came < pools || pools < leastKept {
		return
	}
	next := make(order, pools+1)
	for i := range next {
		next[i] = -1
	}
	last := pools
	for _, row := range g.notes.came {
		next[last] = row
		last = int(row)
	}
	g.question.catalog.order.Store(&next)
}
