package expr

import (
	"iter"
	"slices"

	"github.com/edict-dev/edict/engine/value"
)

// Candidates are what a request says of each candidate, in the order of the selection:
// some of a list of objects that other requests may share, so that neither is changed.
type Candidates struct {
	// Of are the objects.
	Of *value.Rows
	// Some are the places of the candidates among them, in order; nil is all.
	Some []int32
}

// CandidatesOf returns candidates with the fields of some maps.
func CandidatesOf(maps ...*value.Map) Candidates { return Candidates{Of: value.RowsOf(maps...)} }

// Len is the number of candidates.
func (c Candidates) Len() int {
	switch {
	case c.Of == nil:
		return 0
	case c.Some != nil:
		return len(c.Some)
	}
	return c.Of.Len()
}

// Row returns the place of a candidate among the objects.
func (c Candidates) Row(i int) int {
	if c.Some != nil {
		return int(c.Some[i])
	}
	return i
}

// All returns the candidates as maps, which are made for it.
func (c Candidates) All() iter.Seq2[int, *value.Map] {
	return func(yield func(int, *value.Map) bool) {
		for i := range c.Len() {
			if !yield(i, c.Of.At(c.Row(i))) {
				return
			}
		}
	}
}

// Bytes is about how many bytes the candidates take in memory.
func (c Candidates) Bytes() int {
	if c.Len() == 0 {
		return 0
	}
	return 4*len(c.Some) + c.Of.Built()*c.Len()/c.Of.Len()
}

// Same reports whether others are the same in every respect.
func (c Candidates) Same(others Candidates) bool {
	n := c.Len()
	if n != others.Len() {
		return false
	}
	if c.Of == others.Of && slices.Equal(c.Some, others.Some) {
		return true
	}
	for i := range n {
		if !c.Of.Alike(c.Row(i), others.Of, others.Row(i)) {
			return false
		}
	}
	return true
}
