package value

import (
	"math"
	"strconv"

	"github.com/google/cel-go/common/types"
)

// Infinite returns where a value has a number that JSON does not have, such as
// spec.list[2] ("" is the value itself), and the number; false when all are finite.
func Infinite(v Value) (where string, number float64, found bool) {
	switch v := v.(type) {
	case types.Double:
		f := float64(v)
		return "", f, math.IsNaN(f) || math.IsInf(f, 0)
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

// joined returns the path of a field and what is below it.
func joined(field, below string) string {
	if below == "" || below[0] == '[' {
		return field + below
	}
	return field + "." + below
}
