package cel

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// maxDeep is where counting the bytes of a value ends: it is more than any
// evaluation may build.
const maxDeep = 2 * expr.EvaluationBytes

// textBytes is the length of a text, 0 for anything else.
func textBytes(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	}
	return 0
}

// length is the number of items or entries, 0 for anything else.
func length(v ref.Val) int {
	switch v := v.(type) {
	case types.String, types.Bytes:
		return 0
	case traits.Sizer:
		n, _ := v.Size().(types.Int)
		return int(n)
	}
	return 0
}

// measure finds out how large arguments are, and counts the items and entries
// that it visits for that: they are charged as well.
type measure struct{ visited int }

// work returns the cost of the visits.
func (m *measure) work() uint64 { return units(m.visited, itemsPerUnit) }

// deep is how many bytes values have, with all that is in them and as often as
// it is named there; expr.Uncounted when that is more than maxDeep. Values that
// are settled know it.
func (m *measure) deep(list ...ref.Val) int { return m.deepUpTo(maxDeep, list...) }

// deepUpTo is deep that ends counting at a limit.
func (m *measure) deepUpTo(limit int, list ...ref.Val) int {
	d := deepener{measure: m, left: limit}
	for _, v := range list {
		d.add(v)
	}
	if d.left < 0 {
		return expr.Uncounted
	}
	return limit - d.left
}

// smaller is deep of the smaller of two values. It counts both in turn, so that it
// visits no more than a few times what the smaller has.
func (m *measure) smaller(a, b ref.Val) int {
	for limit := 16 * value.HolderBytes; ; limit *= 4 {
		if n := min(m.deepUpTo(min(limit, maxDeep), a), m.deepUpTo(min(limit, maxDeep), b)); n < expr.Uncounted || limit > maxDeep {
			return n
		}
	}
}

type deepener struct {
	*measure
	left int
}

func (d *deepener) add(v ref.Val) {
	d.visited++
	switch v := value.Unwrap(v).(type) {
	case *value.Map, *value.List:
		d.left -= value.Deep(v)
	case traits.Mapper:
		d.mapper(v)
	case traits.Lister:
		d.left -= value.HolderBytes
		eachItem(v, func(item ref.Val) bool { d.add(item); return d.left >= 0 })
	default:
		d.left -= value.Deep(v)
	}
}

// lookupVisits is as how many visits finding an entry of a map counts, which has no order.
const lookupVisits = 8

func (d *deepener) mapper(m traits.Mapper) {
	if n := value.Deep(m); n > value.ScalarBytes { // a map that is looked over
		d.left -= n
		return
	}
	d.left -= value.HolderBytes
	for it := m.Iterator(); d.left >= 0 && it.HasNext() == types.True; {
		key := it.Next()
		d.visited += lookupVisits
		d.add(key)
		if v, ok := m.Find(key); ok {
			d.add(v)
		}
	}
}

// eachItem visits the items of a list until visit returns false.
func eachItem(l traits.Lister, visit func(ref.Val) bool) {
	for it := l.Iterator(); it.HasNext() == types.True; {
		if !visit(it.Next()) {
			return
		}
	}
}

// each is eachItem that counts.
func (m *measure) each(l traits.Lister, visit func(ref.Val) bool) {
	eachItem(l, func(item ref.Val) bool { m.visited++; return visit(item) })
}

// textsOf adds up the texts of a list, up to a limit; other items count nothing.
func (m *measure) textsOf(v ref.Val, limit int) (sum int) {
	if l, ok := v.(traits.Lister); ok {
		m.each(l, func(item ref.Val) bool { sum += textBytes(item); return sum <= limit })
	}
	if sum > limit {
		return expr.Uncounted
	}
	return sum
}

// composites counts the items of a list that are compared one by one, and the
// bytes that these have.
func (m *measure) composites(v ref.Val) (count, sum int) {
	if l, ok := v.(traits.Lister); ok {
		m.each(l, func(item ref.Val) bool {
			if !quick(item) {
				count, sum = count+1, sum+m.deep(item)
			}
			return sum < expr.Uncounted
		})
	}
	return count, sum
}

// quick reports whether a comparison with a value takes one step, or a single
// pass over a text.
func quick(v ref.Val) bool {
	switch v.(type) {
	case types.Bool, types.Int, types.Uint, types.Double, types.Null, types.Timestamp, types.Duration, types.String, types.Bytes:
		return true
	}
	return false
}
