package value

import (
	"cmp"

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

type last struct{ ref.Val }

func compareAny(a, b Value) int {
	if a == Last || b == Last {
		return cmp.Compare(isLast(a), isLast(b))
	}
	if a == nil || b == nil {
		return cmp.Compare(present(a), present(b))
	}
	if c, ok := Compare(a, b); ok {
		return c
	}
	return cmp.Compare(a.Type().TypeName(), b.Type().TypeName())
}

func isLast(v Value) int {
	if v == Last {
		return 1
	}
	return 0
}

func present(v Value) int {
	if v == nil {
		return 0
	}
	return 1
}
