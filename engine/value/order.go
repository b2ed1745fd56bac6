package value

import (
	"cmp"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// CompareAll compares lists of values of the same length one after the other.
// Values of different types are ordered by the names of the types, so that the
// order is total; none comes first, Last last.
func CompareAll(a, b []Value) int {
	for i := range a {
		if c := compareAny(Unwrap(a[i]), Unwrap(b[i])); c != 0 {
			return c
		}
	}
	return 0
}

// Last comes after all other values in the order of CompareAll. It is nothing else.
var Last Value = last{Null}

// last has a type of its own, whose name comes after those of all others.
type last struct{ ref.Val }

var lastType = types.NewOpaqueType("\U0010FFFF")

func (last) Type() ref.Type { return lastType }

func compareAny(a, b Value) int {
	if a == nil || b == nil {
		return cmp.Compare(present(a), present(b))
	}
	if c, ok := Compare(a, b); ok {
		return c
	}
	return cmp.Compare(a.Type().TypeName(), b.Type().TypeName())
}

func present(v Value) int {
	if v == nil {
		return 0
	}
	return 1
}
