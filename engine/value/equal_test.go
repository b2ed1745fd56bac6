package value

import (
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// TestSame is how a write is compared with what is there: absent, null and
// empty are one.
func TestSame(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		a, b Value
		want bool
	}{
		"absent and null":             {nil, Null, true},
		"absent and empty list":       {nil, EmptyList, false},
		"null and empty object":       {Null, Empty, false},
		"empty list and empty object": {EmptyList, Empty, false},
		"absent and empty text":       {nil, OfString(""), false},
		"absent and false":            {nil, OfBool(false), false},
		"absent and 0":                {nil, OfInt(0), false},
		"texts":                       {OfString("a"), OfString("a"), true},
		"other texts":                 {OfString("a"), OfString("b"), false},
		"numbers of two kinds":        {OfInt(1), OfDouble(1), true},
		"a number and a text":         {OfInt(1), OfString("1"), false},
		"a list and an object":        {frozen([]any{"a"}), frozen(object{"a": "b"}), false},
		"lists":                       {frozen([]any{"a", int64(1)}), frozen([]any{"a", 1.0}), true},
		"lists in another order":      {frozen([]any{"a", "b"}), frozen([]any{"b", "a"}), false},
		"a longer list":               {frozen([]any{"a"}), frozen([]any{"a", "b"}), false},
		"a list of nothing":           {frozen([]any{nil}), frozen([]any{object{}}), false},
		"objects":                     {frozen(object{"a": "b"}), frozen(object{"a": "b"}), true},
		"an empty field":              {frozen(object{"a": "b", "c": []any{}}), frozen(object{"a": "b"}), false},
		"an empty field, other way":   {frozen(object{"z": "b"}), frozen(object{"z": "b", "a": object{}}), false},
		"an object without fields":    {frozen(object{"a": object{}, "b": nil}), Empty, false},
		"a null field":                {frozen(object{"a": "b", "c": nil}), frozen(object{"a": "b"}), true},
		"a field more":                {frozen(object{"a": "b"}), frozen(object{"a": "b", "c": "d"}), false},
		"a field more, other way":     {frozen(object{"a": "b", "c": "d"}), frozen(object{"c": "d"}), false},
		"a deep difference":           {frozen(object{"a": []any{object{"b": "c"}}}), frozen(object{"a": []any{object{"b": "d"}}}), false},
		"times":                       {OfTime(at), OfTime(at.In(time.FixedZone("", 3600))), true},
		"a time and its text":         {OfTime(at), OfString("2026-03-01T12:00:00Z"), true},
		"a text and its time":         {OfString("2026-03-01T12:00:00Z"), OfTime(at), true},
		"a duration and its text":     {OfDuration(time.Minute), OfString("1m0s"), true},
		"an object that holds little": {frozen(object{"a": object{"b": nil}}), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Same(tc.a, tc.b); got != tc.want {
				t.Errorf("got %v", got)
			}
			if got := Same(tc.b, tc.a); got != tc.want {
				t.Errorf("the other way round it is %v", got)
			}
		})
	}
}

// TestSameUnder compares only what somebody reads.
func TestSameUnder(t *testing.T) {
	t.Parallel()
	leaf := &Mask{}
	a := object{"spec": object{"x": "1", "y": "2"}, "list": []any{object{"n": "a", "m": "b"}}, "map": object{"k": "v"}}
	for name, tc := range map[string]struct {
		b    object
		mask *Mask
		want bool
	}{
		"nothing is read":             {object{}, nil, true},
		"all is read":                 {object{"spec": object{"x": "1", "y": "3"}}, KeepAll, false},
		"the field that differs":      {object{"spec": object{"x": "2"}}, fields(map[string]*Mask{"spec": fields(map[string]*Mask{"x": leaf})}), false},
		"another field":               {object{"spec": object{"x": "1"}}, fields(map[string]*Mask{"spec": fields(map[string]*Mask{"x": leaf})}), true},
		"a field that is gone":        {object{"spec": object{}}, fields(map[string]*Mask{"spec": fields(map[string]*Mask{"x": leaf})}), false},
		"an object that is gone":      {object{}, fields(map[string]*Mask{"spec": leaf}), false},
		"only whether it is there":    {object{"spec": object{"z": "1"}}, fields(map[string]*Mask{"spec": leaf}), true},
		"the items' read field":       {object{"list": []any{object{"n": "a"}}}, fields(map[string]*Mask{"list": {Each: fields(map[string]*Mask{"n": leaf})}}), true},
		"the items' field differs":    {object{"list": []any{object{"n": "b"}}}, fields(map[string]*Mask{"list": {Each: fields(map[string]*Mask{"n": leaf})}}), false},
		"one item more":               {object{"list": []any{object{"n": "a"}, object{"n": "a"}}}, fields(map[string]*Mask{"list": {Each: fields(map[string]*Mask{"n": leaf})}}), false},
		"the keys, and one more":      {object{"map": object{"k": "v", "l": "w"}}, fields(map[string]*Mask{"map": {Each: leaf}}), false},
		"one key, and another more":   {object{"map": object{"k": "v", "l": "w"}}, fields(map[string]*Mask{"map": fields(map[string]*Mask{"k": leaf})}), true},
		"an object that is a text":    {object{"spec": "x"}, fields(map[string]*Mask{"spec": fields(map[string]*Mask{"x": leaf})}), false},
		"a list that is now a number": {object{"list": int64(1)}, fields(map[string]*Mask{"list": {Each: KeepAll}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := SameUnder(frozen(a), frozen(tc.b), tc.mask); got != tc.want {
				t.Errorf("got %v", got)
			}
			if got := SameUnder(frozen(tc.b), frozen(a), tc.mask); got != tc.want {
				t.Errorf("the other way round it is %v", got)
			}
		})
	}
	if !SameUnder(nil, nil, KeepAll) || SameUnder(nil, Null, KeepAll) || SameUnder(Empty, nil, leaf) {
		t.Error("absent values")
	}
}

// TestSameUnderAgreesWithFreeze: two objects are the same under a mask just
// when what it keeps of them is equal.
func TestSameUnderAgreesWithFreeze(t *testing.T) {
	t.Parallel()
	list := []object{
		{}, {"a": "1"}, {"a": "2"}, {"a": object{}}, {"a": object{"c": "1"}}, {"a": object{"c": "2"}}, {"a": object{"c": "1", "d": "1"}}, {"b": "1"},
		{"a": object{"a": "1"}, "b": "1"}, {"a": []any{}}, {"a": []any{object{"a": "1", "c": "1"}}}, {"a": []any{object{"a": "2"}}},
	}
	for name, mask := range masks() {
		for _, x := range list {
			for _, y := range list {
				kept := Freeze(x, nil, mask).Equal(Freeze(y, nil, mask)) == types.True
				if same := SameUnder(frozen(x), frozen(y), mask); same != kept && mask != nil {
					t.Errorf("%s of %v and %v: the same is %v, what is kept %v", name, x, y, same, kept)
				}
			}
		}
	}
}

// TestEqualWithCEL: values of the read model and those that an expression
// builds are equal when their content is.
func TestEqualWithCEL(t *testing.T) {
	t.Parallel()
	adapter := types.DefaultTypeAdapter
	built := map[string]ref.Val{
		"[]": adapter.NativeToValue([]any{}), "[1]": adapter.NativeToValue([]any{1}), "[1.0]": adapter.NativeToValue([]any{1.0}), "[a]": adapter.NativeToValue([]string{"a"}),
		"[[a]]": adapter.NativeToValue([][]string{{"a"}}), "{}": adapter.NativeToValue(map[string]any{}), "{a:1}": adapter.NativeToValue(map[string]any{"a": 1}),
		"{a:b}": adapter.NativeToValue(map[string]string{"a": "b"}), "{a:[1]}": adapter.NativeToValue(map[string]any{"a": []any{1}}), "{b:1}": adapter.NativeToValue(map[string]any{"b": 1}),
	}
	read := map[string]Value{
		"[]": EmptyList, "[1]": frozen([]any{int64(1)}), "[1.0]": NewList([]Value{types.Double(1)}), "[a]": frozen([]any{"a"}), "[[a]]": frozen([]any{[]any{"a"}}), "{}": Empty,
		"{a:1}": frozen(object{"a": int64(1)}), "{a:b}": frozen(object{"a": "b"}), "{a:[1]}": frozen(object{"a": []any{int64(1)}}), "{b:1}": frozen(object{"b": int64(1)}),
	}
	same := func(a, b string) bool { return a == b || a == "[1]" && b == "[1.0]" || a == "[1.0]" && b == "[1]" }
	for a, v := range read {
		for b := range built {
			for name, got := range map[string]ref.Val{"read and built": v.Equal(built[b]), "built and read": built[b].Equal(v), "both read": v.Equal(read[b])} {
				if (got == types.True) != same(a, b) {
					t.Errorf("%s: %s equals %s is %v", name, a, b, got)
				}
			}
		}
		if v.Equal(types.String("a")) == types.True || v.Equal(types.NullValue) == types.True {
			t.Errorf("%s equals a scalar", a)
		}
	}
}
