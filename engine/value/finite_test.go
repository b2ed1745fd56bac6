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

// TestInfiniteStaysKnown: a change of a part makes known that the whole has such a number,
// whichever way it is made.
func TestInfiniteStaysKnown(t *testing.T) {
	t.Parallel()
	nan := types.Double(math.NaN())
	inner := FromMap(map[string]Value{"c": types.Int(2)})
	plain := FromMap(map[string]Value{"a": types.Int(1), "b": inner})
	for name, v := range map[string]Value{
		"a field that is replaced": plain.With("a", nan),
		"a field that is added":    plain.With("x", nan),
		"several":                  plain.WithAll([]string{"a", "x"}, []Value{types.Int(3), nan}),
		"a field below":            plain.With("b", inner.With("c", nan)),
	} {
		if _, _, found := Infinite(v); !found {
			t.Errorf("%s: nothing is found in %v", name, v)
		}
	}
	if _, _, found := Infinite(plain.With("a", nan).With("a", types.Int(1))); found {
		t.Error("a number that was replaced is found")
	}
}
