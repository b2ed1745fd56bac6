package value

import (
	"math"
	"strconv"

	"github.com/google/cel-go/common/types"
)

// Infinite returns where a value has a number that JSON does not have, such as
// spec.list[2] ("" is the value itself), and the number; false when all are finite. It looks
// into no part that has none.
func Infinite(v Value) (where string, number float64, found bool) {
	if !hasInfinite(v) {
		return "", 0, false
	}
	switch v := v.(type) {
	case types.Double:
		return "", float64(v), true
	case *Map:
		for i := range v.vals {
			if below, f, found := Infinite(v.vals[i]); found {
				return joined(v.keys()[i], below), f, true
			}
		}
	case *List:
		for i, item := range v.items {
			if below, f, found := Infinite(item); found {
				return joined("["+strconv.Itoa(i)+"]", below), f, true
			}
		}
	case *types.Optional:
		if v.HasValue() {
			return Infinite(v.GetValue())
		}
	}
	return "", 0, false
}

// hasInfinite reports whether a value may be such a number, or have some in it. It takes no
// longer for a large value than for a small one.
func hasInfinite(v Value) bool {
	switch v := v.(type) {
	case *Map:
		return v.sizes.infinite
	case *List:
		return v.sizes.infinite
	case types.Double:
		return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)
	case *types.Optional:
		return v.HasValue() && hasInfinite(v.GetValue())
	}
	return false
}

// joined returns the path of a field and what is below it.
func joined(field, below string) string {
	if below == "" || below[0] == '[' {
		return field + below
	}
	return field + "." + below
}
