package extender

import (
	"slices"
	"sync"
)

// notes are what is noted while an answer is read.
type notes struct {
	// seen are the pools that the answer has named.
	seen []bool
	// places has one more than the place in the question of each pool of the catalog;
	// it is used where the question is about some of them.
	places []int32
	// came are the rows of the entries, in their order.
	came []int32
}

// notesPool has notes for the next answers: they are as large as the questions.
var notesPool = sync.Pool{New: func() any { return &notes{} }}

func (n *notes) begin(q *question) {
	n.came = n.came[:0]
	n.seen = slices.Grow(n.seen[:0], q.len())[:q.len()]
	clear(n.seen)
	if q.rows == nil {
		return
	}
	n.places = slices.Grow(n.places[:0], q.catalog.len())[:q.catalog.len()]
	clear(n.places)
	for i, row := range q.rows {
		n.places[row] = int32(i) + 1
	}
}

// at returns the place of a pool in the question; -1 when it was not asked about.
func (n *notes) at(q *question, row int) int {
	if q.rows == nil {
		return row
	}
	return int(n.places[row]) - 1
}
