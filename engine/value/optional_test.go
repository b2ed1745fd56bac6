package value

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// nested makes a value with optionals in it, as expressions may give one.
func nested(r *rand.Rand, depth int) Value {
	switch n := r.IntN(8); {
	case n == 0:
		return None
	case n == 1:
		return Some(nested(r, depth))
	case n < 5 && depth > 0:
		items := make([]Value, r.IntN(4))
		for i := range items {
			items[i] = nested(r, depth-1)
		}
		if n == 2 {
			return NewList(items)
		}
		out := Empty
		for i, v := range items {
			out = out.With(string(rune('a'+i)), v)
		}
		return out
	}
	return OfInt(int64(r.IntN(9)))
}

// holds looks for an optional in a value, part by part.
func holds(v Value) bool {
	switch v := v.(type) {
	case *Map:
		for i := range v.Len() {
			if _, field := v.At(i); holds(field) {
				return true
			}
		}
		return false
	case *List:
		return slices.ContainsFunc(v.Items(), holds)
	}
	return v != nil && (v == None || Unwrap(v) != v)
}

// TestWritten: nothing that is written has an optional in it, and a value without one is
// written as it is.
func TestWritten(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5000) {
		v := nested(rand.New(rand.NewPCG(seed, 0)), 4)
		if HasOptionals(v) != holds(v) {
			t.Fatalf("%d: %v in %v", seed, HasOptionals(v), v)
		}
		got := Written(v)
		if holds(got) || HasOptionals(got) {
			t.Fatalf("%d: %v is written as %v", seed, v, got)
		}
		if !holds(v) && got != v || Written(got) != got {
			t.Fatalf("%d: %v is not written as it is", seed, v)
		}
	}
}

func TestWrittenLeavesOut(t *testing.T) {
	t.Parallel()
	of := func(fields map[string]Value) Value { return FromMap(fields) }
	v := of(map[string]Value{
		"none": None, "some": Some(OfInt(1)), "null": Null, "twice": Some(Some(OfInt(2))), "never": Some(None),
		"list": ListOf(None, Some(OfInt(3)), Null, of(map[string]Value{"a": None, "b": OfInt(4)})),
	})
	want := `{"list":[3,null,{"b":4}],"null":null,"some":1,"twice":2}`
	if got, err := JSON(Written(v)); err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if Written(None) != nil || Written(nil) != nil || Written(Null) != Null {
		t.Error("none and null are not told apart")
	}
}
