package schema_test

import (
	"testing"

	"github.com/edict-dev/edict/engine/schema"
)

// TestVerbatim: a type is stored as it is written unless some part of it is not, however
// deep, and also where a type contains itself.
func TestVerbatim(t *testing.T) {
	t.Parallel()
	text := &schema.Type{Kind: schema.String}
	within := func(inner *schema.Type) *schema.Type {
		list := &schema.Type{Kind: schema.List, Elem: &schema.Type{Kind: schema.Map, Elem: inner}}
		return &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{"a": text, "b": list}}
	}
	tree := func(inner *schema.Type) *schema.Type {
		out := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{"leaf": inner}}
		out.Fields["children"] = &schema.Type{Kind: schema.List, Elem: out}
		return out
	}
	crd := schema.NewSet(nil)
	if err := crd.AddCRD([]byte(`
kind: CustomResourceDefinition
spec:
  group: acme.io
  names: {kind: K}
  versions:
    - {name: v1, schema: {openAPIV3Schema: {type: object, properties: {
        plain: {type: array, items: {type: object, properties: {a: {type: string}}}},
        defaulted: {type: array, items: {type: object, properties: {a: {type: string, default: x}}}}}}}}
`)); err != nil {
		t.Fatal(err)
	}
	kind, _ := crd.Kind(schema.GVK{APIVersion: "acme.io/v1", Kind: "K"})
	for name, tc := range map[string]struct {
		typ  *schema.Type
		want bool
	}{
		"no type":                   {nil, true},
		"anything":                  {schema.Any, true},
		"a text":                    {text, true},
		"texts within":              {within(text), true},
		"a time within":             {within(&schema.Type{Kind: schema.Time}), false},
		"a quantity within":         {within(&schema.Type{Kind: schema.Dyn, Quantity: true}), false},
		"times by name within":      {within(&schema.Type{Kind: schema.Dyn, Guess: true}), false},
		"a tree of texts":           {tree(text), true},
		"a tree of times":           {tree(&schema.Type{Kind: schema.Time}), false},
		"an object without a kind":  {schema.Untyped(), false},
		"items of a CRD":            {kind.Field("plain"), true},
		"items with a default":      {kind.Field("defaulted"), false},
		"a node that is in a cycle": {tree(text).Field("children"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second answer is kept
				if got := tc.typ.Verbatim(); got != tc.want {
					t.Errorf("got %v, want %v", got, tc.want)
				}
			}
		})
	}
}
