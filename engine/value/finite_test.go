package value

import (
	"math"
	"testing"

	"github.com/google/cel-go/common/types"
)

func TestInfinite(t *testing.T) {
	t.Parallel()
	nan := types.Double(math.NaN())
	list := NewList([]Value{types.Int(1), FromMap(map[string]Value{"a": OfString("x"), "b": nan})})
	for name, tc := range map[string]struct {
		v     Value
		where string
		found bool
	}{
		"a number":    {types.Double(1e308), "", false},
		"a text":      {OfString("NaN"), "", false},
		"nothing":     {nil, "", false},
		"none":        {types.OptionalNone, "", false},
		"itself":      {types.Double(math.Inf(-1)), "", true},
		"an optional": {types.OptionalOf(nan), "", true},
		"below":       {FromMap(map[string]Value{"a": types.Int(1), "spec": FromMap(map[string]Value{"list": list})}), "spec.list[1].b", true},
		"a list":      {NewList([]Value{NewList([]Value{nan})}), "[0][0]", true},
	} {
		where, number, found := Infinite(tc.v)
		if where != tc.where || found != tc.found || found && !math.IsNaN(number) && !math.IsInf(number, 0) {
			t.Errorf("%s: %q, %v, %v", name, where, number, found)
		}
	}
}
