package selection

import (
	"github.com/edict-dev/edict/engine/value"
)

// ids numbers the different values of a column.
type ids struct {
	// of is the number of every row's value; -1 where there is none.
	of []int32
	// n is how many there are; missing says that a row has none.
	n       int
	missing bool
	// texts finds the number of a text, first the rows of each number: those of
	// number i are rows[first[i]:first[i+1]].
	texts map[string]int32
	first []int32
	rows  []int32
}

func (c *column) number() *ids {
	defer c.numbered.Store(true)
	out := &ids{of: make([]int32, len(c.vals)), texts: make(map[string]int32, c.different())}
	others := map[string]int32{}
	for at, v := range c.vals {
		out.of[at] = -1
		switch {
		case v == nil:
			out.missing = true
			continue
		case at > 0 && sameText(c.vals[at-1], v): // candidates of one item come together
			out.of[at] = out.of[at-1]
			continue
		}
		table, id := out.texts, ""
		if text, ok := value.Str(v); ok {
			id = text
		} else {
			table, id = others, value.Identity(v)
		}
		n, known := table[id]
		if !known {
			n = int32(out.n)
			table[id] = n
			out.n++
		}
		out.of[at] = n
	}
	out.post()
	return out
}

// different estimates how many different texts a column has, from some of them.
func (c *column) different() int {
	const sample = 64
	if len(c.vals) < 2*sample {
		return 0
	}
	seen := make(map[string]bool, sample)
	for i := range sample {
		if text, ok := value.Str(c.vals[i*len(c.vals)/sample]); ok {
			seen[text] = true
		}
	}
	if len(seen) < sample/2 {
		return len(seen)
	}
	return len(seen) * len(c.vals) / sample / 2
}

// sameText reports whether two values are one text.
func sameText(a, b value.Value) bool {
	x, ok := value.Str(a)
	y, ok2 := value.Str(b)
	return ok && ok2 && x == y
}

// post lists the rows of every number.
func (x *ids) post() {
	x.first = make([]int32, x.n+1)
	for _, id := range x.of {
		if id >= 0 {
			x.first[id+1]++
		}
	}
	for i := range x.n {
		x.first[i+1] += x.first[i]
	}
	x.rows = make([]int32, x.first[x.n])
	next := append([]int32(nil), x.first...)
	for at, id := range x.of {
		if id >= 0 {
			x.rows[next[id]] = int32(at)
			next[id]++
		}
	}
}

// put adds the rows with a text to a set.
func (x *ids) put(text string, into set) {
	id, ok := x.texts[text]
	if !ok {
		return
	}
	for _, at := range x.rows[x.first[id]:x.first[id+1]] {
		into.put(int(at))
	}
}
