package cel

import (
	"math"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// seen is a set of values under CEL's equality: scalars are found by hashing,
// others are compared one by one.
type seen struct {
	scalars map[any]bool
	others  []ref.Val
}

func newSeen(size int) *seen { return &seen{scalars: make(map[any]bool, size)} }

// hashed returns what a scalar is found by: equal scalars, and only these, have
// equal keys. A number that is not one equals nothing, itself included.
func hashed(v ref.Val) (key any, scalar bool) {
	switch v := v.(type) {
	case types.String, types.Bool, types.Int, types.Null:
		return v, true
	case types.Uint:
		if v <= math.MaxInt64 {
			return types.Int(v), true
		}
		return v, true
	case types.Double:
		return hashedDouble(v), true
	case types.Timestamp:
		return [2]int64{v.Unix(), int64(v.Nanosecond())}, true
	case types.Duration:
		return v.Duration, true
	case types.Bytes:
		return [1]string{string(v)}, true
	}
	return nil, false
}

// hashedDouble gives a whole number the key of the integer that it equals.
func hashedDouble(d types.Double) any {
	const above = 1 << 63
	switch f := float64(d); {
	case f == math.Trunc(f) && f >= -above && f < above:
		return types.Int(f)
	case f == math.Trunc(f) && f >= above && f < 2*above:
		return types.Uint(f)
	default:
		return d // a map never finds a number that is not one, which is right
	}
}

// has reports whether an equal value was added.
func (s *seen) has(v ref.Val) bool {
	if key, ok := hashed(v); ok {
		return s.scalars[key]
	}
	return slices.ContainsFunc(s.others, func(o ref.Val) bool { return v.Equal(o) == types.True })
}

func (s *seen) add(v ref.Val) {
	if key, ok := hashed(v); ok {
		s.scalars[key] = true
		return
	}
	s.others = append(s.others, v)
}

// distinct returns the first of all equal items of a list.
func distinct(a *callArgs) ref.Val {
	l, ok := a[0].(traits.Lister)
	if !ok {
		return nil
	}
	n := length(l)
	known, out := newSeen(n), make([]ref.Val, 0, n)
	eachItem(l, func(v ref.Val) bool {
		if !known.has(v) {
			known.add(v)
			out = append(out, v)
		}
		return true
	})
	return types.NewRefValList(types.DefaultTypeAdapter, out)
}

// distinctNeed charges hashing for scalars, and each pair of the others.
func distinctNeed(a *callArgs) expr.Need {
	n := length(a[0])
	need := items(n)
	need.Bytes += 6 * value.ScalarBytes * n
	m := measure{}
	others, sum := m.composites(a[0])
	need.Work += units(m.textsOf(a[0], expr.Uncounted-1), bytesPerUnit) + pairs(others, others, sum) + m.work()
	return need
}

// pairs is the work of comparing each of some values with each of others, which
// have so many bytes together.
func pairs(n, m, sum int) uint64 {
	return units(times(n, m), itemsPerUnit) + units(times(n, sum), comparisonsPerUnit*value.ScalarBytes/4)
}

func members(v ref.Val) *seen {
	l := v.(traits.Lister)
	s := newSeen(length(l))
	eachItem(l, func(item ref.Val) bool { s.add(item); return true })
	return s
}

// containsAll reports whether all items of a list are in a set.
func containsAll(s *seen, v ref.Val) bool {
	all := true
	eachItem(v.(traits.Lister), func(item ref.Val) bool { all = s.has(item); return all })
	return all
}

func lists(a *callArgs) bool {
	_, one := a[0].(traits.Lister)
	_, two := a[1].(traits.Lister)
	return one && two
}

func setsContain(a *callArgs) ref.Val {
	if !lists(a) {
		return nil
	}
	return types.Bool(containsAll(members(a[0]), a[1]))
}

func setsEqual(a *callArgs) ref.Val {
	if !lists(a) {
		return nil
	}
	return types.Bool(containsAll(members(a[0]), a[1]) && containsAll(members(a[1]), a[0]))
}

func setsIntersect(a *callArgs) ref.Val {
	if !lists(a) {
		return nil
	}
	s, found := members(a[0]), false
	eachItem(a[1].(traits.Lister), func(item ref.Val) bool { found = s.has(item); return !found })
	return types.Bool(found)
}

func setsNeed(a *callArgs) expr.Need {
	m := measure{}
	x, xs := m.composites(a[0])
	y, ys := m.composites(a[1])
	n := length(a[0]) + length(a[1])
	return expr.Need{
		Work:  1 + units(n, itemsPerUnit) + units(m.textsOf(a[0], maxDeep)+m.textsOf(a[1], maxDeep), bytesPerUnit) + pairs(x, y, ys) + pairs(y, x, xs) + m.work(),
		Bytes: 6 * value.ScalarBytes * n,
	}
}
