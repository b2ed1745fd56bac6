package selection

import "math/bits"

// set is a set of rows, one bit each.
type set []uint64

func newSet(rows int) set { return make(set, (rows+63)/64) }

// all is the set of the first rows.
func all(rows int) set {
	s := newSet(rows)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if rest := rows % 64; rest > 0 {
		s[len(s)-1] = 1<<rest - 1
	}
	return s
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

func (s set) clone() set { return append(set(nil), s...) }

// and keeps what is in both, and gives s.
func (s set) and(o set) set {
	for i := range s {
		s[i] &= o[i]
	}
	return s
}

// or adds what is in o, and gives s.
func (s set) or(o set) set {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

// without drops what is in o, and gives s.
func (s set) without(o set) set {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

// next gives the first row of the set from a row on, or -1.
func (s set) next(row int) int {
	if row >= len(s)*64 {
		return -1
	}
	word := s[row/64] >> (row % 64)
	if word != 0 {
		return row + bits.TrailingZeros64(word)
	}
	for i := row/64 + 1; i < len(s); i++ {
		if s[i] != 0 {
			return i*64 + bits.TrailingZeros64(s[i])
		}
	}
	return -1
}

// rows gives the rows in order.
func (s set) rows() []int32 {
	out := make([]int32, 0, s.len())
	for row := s.next(0); row >= 0; row = s.next(row + 1) {
		out = append(out, int32(row))
	}
	return out
}
