package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShared: fields are shared if all types have them with the same type.
func TestShared(t *testing.T) {
	t.Parallel()
	text, number := &Type{Kind: String}, &Type{Kind: Int}
	object := func(name string, fields map[string]*Type) *Type {
		return &Type{Kind: Object, Name: name, Fields: fields, present: map[string]bool{"always": true}}
	}
	inner := object("inner", map[string]*Type{"x": text})
	a := object("a", map[string]*Type{
		"same": text, "enum": {Kind: String, Enum: []string{"a"}}, "differs": text, "mine": text, "inner": inner, "any": Any, "always": text, "list": {Kind: List, Elem: text},
		"deep": object("a.deep", map[string]*Type{"x": text, "y": text}), "map": {Kind: Map, Elem: number},
	})
	b := object("b", map[string]*Type{
		"same": text, "enum": {Kind: String, Enum: []string{"b"}}, "differs": number, "inner": inner, "any": text, "always": text, "list": {Kind: List, Elem: number},
		"deep": object("b.deep", map[string]*Type{"x": text, "z": text}), "map": {Kind: Map, Elem: number},
	})
	got := Shared([]string{"A", "B"}, []*Type{a, b})
	if diff := cmp.Diff([]string{"always", "any", "deep", "enum", "inner", "map", "same"}, got.FieldNames()); diff != "" {
		t.Error(diff)
	}
	for field, want := range map[string]string{
		"mine": "B has no such field", "differs": "its types differ between A and B", "list": "its types differ between A and B", "same": "", "none": "",
	} {
		if why := got.Without(field); why != want {
			t.Errorf("%s: %q, want %q", field, why, want)
		}
	}
	if got.Field("inner") != inner || got.Field("any") != Any || got.Field("map").Elem != number || got.Field("enum").Enum != nil {
		t.Error("a shared field has another type")
	}
	if deep := got.Field("deep"); deep.Name != "a.deep|b.deep" || len(deep.Fields) != 1 || deep.Without("z") != "A has no such field" {
		t.Errorf("got %+v", deep)
	}
	if got.MayLack("always") || !got.MayLack("same") {
		t.Error("a field that one may lack is always there, or the other way round")
	}
	for name, list := range map[string][]*Type{"two sorts": {text, a}, "no schema": {a, untyped}, "nothing known": {Any, a}} {
		if got := Shared([]string{"A", "B"}, list); got.Kind != Dyn {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if Shared([]string{"A"}, []*Type{a}) != a || Shared([]string{"A", "A"}, []*Type{a, a}) != a {
		t.Error("one type is not itself")
	}
}
