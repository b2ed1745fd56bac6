package value

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/cel-go/common/types"
)

// Alike reports whether two values are the same in every respect: no expression tells them
// apart. Equal values may differ, such as 1 and 1.0, or one time with two offsets from UTC.
func Alike(a, b Value) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case *Map:
		y, ok := b.(*Map)
		return ok && (x == y || x.sameKeys(y) && alikeAll(x.vals, y.vals))
	case *List:
		y, ok := b.(*List)
		return ok && (x == y || alikeAll(x.items, y.items))
	case *types.Optional:
		y, ok := b.(*types.Optional)
		return ok && x.HasValue() == y.HasValue() && (!x.HasValue() || Alike(x.GetValue(), y.GetValue()))
	}
	return alikeScalar(a, b)
}

func alikeScalar(a, b Value) bool {
	switch x := a.(type) {
	case types.String, types.Bool, types.Int, types.Uint, types.Null, types.Duration:
		return a == b
	case types.Double:
		y, ok := b.(types.Double)
		return ok && math.Float64bits(float64(x)) == math.Float64bits(float64(y)) // 0 is not -0
	case types.Bytes:
		y, ok := b.(types.Bytes)
		return ok && bytes.Equal(x, y)
	case types.Timestamp:
		y, ok := b.(types.Timestamp)
		return ok && x.Format(time.RFC3339Nano) == y.Format(time.RFC3339Nano)
	}
	return alikeOpaque(a, b)
}

// alikeOpaque compares values of a library's own types, such as quantities. Equal ones may be
// written in different ways. Containers of other implementations are not compared.
func alikeOpaque(a, b Value) bool {
	if b == nil || a.Type() != b.Type() {
		return false
	}
	switch a.Type() {
	case types.ListType, types.MapType, types.ErrType, types.UnknownType:
		return false
	}
	return a.Equal(b) == types.True && fmt.Sprint(a.Value()) == fmt.Sprint(b.Value())
}

func alikeAll(a, b []Value) bool { return slices.EqualFunc(a, b, Alike) }

func (m *Map) sameKeys(o *Map) bool { return m.shape == o.shape || slices.Equal(m.keys(), o.keys()) }

// same reports whether two values are one object or list. Other values are not compared: Go
// cannot compare all of them.
func same(a, b Value) bool {
	switch x := a.(type) {
	case *Map:
		y, ok := b.(*Map)
		return ok && x == y
	case *List:
		y, ok := b.(*List)
		return ok && x == y
	}
	return false
}
