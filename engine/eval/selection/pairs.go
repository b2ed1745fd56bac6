package selection

// pairs numbers the different pairs of two columns.
type pairs struct {
	of []int32
	n  int
}

// paired returns the pairs of two columns of the table.
func (t *table) paired(a, b *ids) *pairs {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.pairs[[2]*ids{a, b}]
	if !ok {
		p = newPairs(a.of, b.of, b.n)
		t.pairs[[2]*ids{a, b}] = p
	}
	return p
}

// newPairs numbers the pairs of the numbers in two columns; the second column has n
// numbers, and -1. Mostly one column follows from the other, such as a label of an object
// from its name: then no pair has to be looked for.
func newPairs(a, b []int32, n int) *pairs {
	p := &pairs{of: make([]int32, len(a))}
	// first has, for each number of b, the first of a that came with it, and one more
	// than the number of this pair.
	first, others := make([][2]int32, n+1), map[[2]int32]int32{}
	for at := range a {
		pair, known := [2]int32{a[at], b[at]}, &first[b[at]+1]
		switch {
		case known[1] == 0:
			*known = [2]int32{a[at], p.next() + 1}
			p.of[at] = known[1] - 1
		case known[0] == a[at]:
			p.of[at] = known[1] - 1
		default:
			number, ok := others[pair]
			if !ok {
				number = p.next()
				others[pair] = number
			}
			p.of[at] = number
		}
	}
	return p
}

// next returns the number of a new pair.
func (p *pairs) next() int32 {
	p.n++
	return int32(p.n - 1)
}

// different counts the different values of a column in every group.
func (r *stagedRun) different(g *groups, of *ids) []int32 {
	var p *pairs
	if g.ids != nil {
		p = r.table.paired(g.ids, of)
	} else {
		p = newPairs(g.of, of.of, of.n)
	}
	out := r.scratch.ids.take(g.n)
	seen := r.scratch.set(p.n)
	for at := range each(r.left) {
		if pair := int(p.of[at]); !seen.has(pair) {
			seen.put(pair)
			out[g.of[at]]++
		}
	}
	return out
}
