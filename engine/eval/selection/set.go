package selection

import (
	"iter"
	"math/bits"
)

// set is a set of rows, one bit each.
type set []uint64

func newSet(rows int) set { return make(set, words(rows)) }

// words is how many words a set of rows has.
func words(rows int) int { return (rows + 63) / 64 }

// all is the set of the first rows.
func all(rows int) set {
	s := newSet(rows)
	s.fill(rows)
	return s
}

// fill puts the first rows into a set of as many.
func (s set) fill(rows int) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	if rest := rows % 64; rest > 0 {
		s[len(s)-1] = 1<<rest - 1
	}
}

func (s set) has(row int) bool { return s[row/64]&(1<<(row%64)) != 0 }

func (s set) put(row int) { s[row/64] |= 1 << (row % 64) }

func (s set) len() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s set) empty() bool {
	for _, word := range s {
		if word != 0 {
			return false
		}
	}
	return true
}

// within reports whether all rows of s are in o.
func (s set) within(o set) bool {
	for i := range s {
		if s[i]&^o[i] != 0 {
			return false
		}
	}
	return true
}

// and keeps what is in both, and returns s.
func (s set) and(o set) set {
	for i := range s {
		s[i] &= o[i]
	}
	return s
}

// or adds what is in o, and returns s.
func (s set) or(o set) set {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

// without drops what is in o, and returns s.
func (s set) without(o set) set {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

// first returns the first row, or -1.
func (s set) first() int {
	for i, word := range s {
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// each visits the rows in order. A row may be dropped while it is visited.
func each(s set) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for word != 0 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
				word &= word - 1
			}
		}
	}
}

// drop takes a row out.
func (s set) drop(row int) { s[row/64] &^= 1 << (row % 64) }

// rows returns the rows in order.
func (s set) rows() []int32 {
	out := make([]int32, 0, s.len())
	for row := range each(s) {
		out = append(out, int32(row))
	}
	return out
}
