package selection

import (
	"sort"
	"strings"

	"github.com/edict-dev/edict/engine/value"
)

// ids numbers the different values of a column.
type ids struct {
	// of is the number of every row's value; -1 where there is none.
	of []int32
	// n is how many there are; missing says that a row has none.
	n       int
	missing bool
	// vals are the values of the rows.
	vals []value.Value
	// texts finds the number of a text; nil where all values are texts, and their numbers
	// in the order of the texts.
	texts map[string]int32
	// first are the rows of each number: those of number i are rows[first[i]:first[i+1]].
	first []int32
	rows  []int32
}

func (c *column) number() *ids {
	defer c.numbered.Store(true)
	out := &ids{of: make([]int32, c.cells.rows), vals: c.cells.values()}
	if !out.inOrder() {
		out.n, out.missing, out.texts = 0, false, make(map[string]int32, out.different())
		out.byText()
	}
	out.post()
	return out
}

// inOrder numbers the values of a column whose texts come in their order, as those of
// candidates do that are sorted by it; false when they do not.
func (x *ids) inOrder() bool {
	last := ""
	for at, v := range x.vals {
		if v == nil {
			x.of[at], x.missing = -1, true
			continue
		}
		text, ok := value.Str(v)
		switch {
		case !ok || x.n > 0 && text < last:
			return false
		case x.n == 0 || text != last:
			x.n++
			last = text
		}
		x.of[at] = int32(x.n - 1)
	}
	return true
}

// byText numbers any values.
func (x *ids) byText() {
	others := map[string]int32{}
	for at, v := range x.vals {
		x.of[at] = -1
		switch {
		case v == nil:
			x.missing = true
			continue
		case at > 0 && sameText(x.vals[at-1], v): // candidates of one item come together
			x.of[at] = x.of[at-1]
			continue
		}
		table, id := x.texts, ""
		if text, ok := value.Str(v); ok {
			id = text
		} else {
			table, id = others, value.Identity(v)
		}
		n, known := table[id]
		if !known {
			n = int32(x.n)
			table[id] = n
			x.n++
		}
		x.of[at] = n
	}
}

// find returns the number of a text; false when no row has it.
func (x *ids) find(text string) (int32, bool) {
	if x.texts != nil {
		id, ok := x.texts[text]
		return id, ok
	}
	n, ok := sort.Find(x.n, func(n int) int {
		known, _ := value.Str(x.vals[x.rows[x.first[n]]])
		return strings.Compare(text, known)
	})
	return int32(n), ok
}

// different estimates how many different texts there are, from some of them.
func (x *ids) different() int {
	const sample = 64
	if len(x.vals) < 16*sample {
		return 0
	}
	seen := make(map[string]bool, sample)
	for i := range sample {
		if text, ok := value.Str(x.vals[i*len(x.vals)/sample]); ok {
			seen[text] = true
		}
	}
	if len(seen) < sample/2 {
		return len(seen)
	}
	return len(seen) * len(x.vals) / sample / 2
}

// sameText reports whether two values are one text.
func sameText(a, b value.Value) bool {
	x, ok := value.Str(a)
	y, ok2 := value.Str(b)
	return ok && ok2 && x == y
}

// post lists the rows of every number.
func (x *ids) post() {
	// next is one place ahead of first: where the next row of each number goes, and when all
	// have been put there, where those of the number after it begin.
	first := make([]int32, x.n+2)
	next := first[1:]
	for _, id := range x.of {
		if id >= 0 {
			next[id+1]++
		}
	}
	for i := range x.n {
		next[i+1] += next[i]
	}
	x.first, x.rows = first[:x.n+1], make([]int32, next[x.n])
	for at, id := range x.of {
		if id >= 0 {
			x.rows[next[id]] = int32(at)
			next[id]++
		}
	}
}

// put adds the rows with a text to a set.
func (x *ids) put(text string, into set) {
	id, ok := x.find(text)
	if !ok {
		return
	}
	for _, at := range x.rows[x.first[id]:x.first[id+1]] {
		into.put(int(at))
	}
}
