package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// speller finds what an API server would refuse or drop in the objects of a test: a test
// that relies on it shows nothing.
type speller struct{ schemas *schema.Set }

// world checks the objects of the world, of which some are written in the test.
func (s speller) world(objects []simulate.Object, lists ...[]*document.Node) error {
	for _, o := range objects {
		if err := s.object(o); err != nil {
			id := simulate.ID(o)
			return fmt.Errorf("%sthe world's %s %s %w", written(id, slices.Concat(lists...)), id.Kind, id.Name, err)
		}
	}
	return nil
}

// written returns where an object is written in a test; "" for one of another file.
func written(id simulate.Identity, list []*document.Node) string {
	for _, n := range list {
		if o, err := object(n); err == nil && simulate.ID(o) == id {
			return n.Pos.String() + ": "
		}
	}
	return ""
}

// written checks an object, or a part of one, as a step writes it.
func (s speller) written(n *document.Node, o simulate.Object) error {
	if err := s.object(o); err != nil {
		id := simulate.ID(o)
		return fmt.Errorf("%s: the %s %s %w", n.Pos, id.Kind, id.Name, err)
	}
	return nil
}

// object returns what is wrong with an object, or a part of one. Of a kind without a
// schema nothing is known.
func (s speller) object(o simulate.Object) error {
	gvk := simulate.ID(o).GVK
	if err := s.kind(gvk); err != nil {
		return err
	}
	if t, known := s.schemas.Kind(gvk); known {
		return misspelt(t, o, "")
	}
	return nil
}

// kind returns an error for a kind that a group of Kubernetes itself does not have, or
// that is spelt as one of which a schema is known: of other groups there may be more.
func (s speller) kind(gvk schema.GVK) error {
	known := schema.BuiltinKinds(gvk.APIVersion)
	if slices.Contains(known, gvk.Kind) {
		return nil
	}
	if len(known) == 0 {
		if known = s.schemas.Kinds(gvk.APIVersion); slices.Contains(known, gvk.Kind) || document.DidYouMean(gvk.Kind, known) == "" {
			return nil
		}
	}
	return fmt.Errorf("is of a kind that %s has not%s", gvk.APIVersion, hinted(gvk.Kind, known))
}

// absent returns an error for an object that nothing can be, or that is there under its
// full name.
func (s speller) absent(id simulate.Identity, world []simulate.Object) error {
	if err := s.kind(id.GVK); err != nil {
		return err
	}
	r, known := s.schemas.Resource(id.GVK)
	if known && !r.Namespaced && id.Namespace != "" {
		return fmt.Errorf("has the namespace %s: no object of the kind has one", id.Namespace)
	}
	if id.Namespace != "" {
		return nil
	}
	for _, o := range world {
		if got := simulate.ID(o); got.GVK == id.GVK && got.Name == id.Name {
			return fmt.Errorf("needs a namespace: there is one in %s", got.Namespace)
		}
	}
	return nil
}

// misspelt returns an error for the first field, in their order, that a type does not have,
// or whose value is of another type.
func misspelt(t *schema.Type, v any, path string) error {
	if err := mistyped(t, v, path); err != nil {
		return err
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			field := t.Field(name)
			if field == nil {
				return fmt.Errorf("has %s, which the kind has not%s", at, hinted(name, t.FieldNames()))
			}
			if err := misspelt(field, v[name], at); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := misspelt(t.Item(), item, path+"[]"); err != nil {
				return err
			}
		}
	}
	return nil
}

// types are the types of which the values are told apart, as an author knows them.
var types = map[schema.Kind]string{
	schema.Object: "an object", schema.Map: "an object", schema.List: "a list", schema.String: "a text", schema.Int: "a whole number",
	schema.Double: "a number", schema.Bool: "true or false", schema.Time: "a text", schema.Bytes: "a text",
}

// mistyped returns an error for a value of another type; null is of any.
func mistyped(t *schema.Type, v any, path string) error {
	want, known := types[t.Kind]
	if !known || v == nil || path == "" || is(t.Kind, v) {
		return nil
	}
	return fmt.Errorf("has %s: %s, which must be %s", path, shown(v), want)
}

func is(kind schema.Kind, v any) bool {
	switch v.(type) {
	case map[string]any:
		return kind == schema.Object || kind == schema.Map
	case []any:
		return kind == schema.List
	case bool:
		return kind == schema.Bool
	case int64:
		return kind == schema.Int || kind == schema.Double
	case float64:
		return kind == schema.Double
	}
	return kind == schema.String || kind == schema.Time || kind == schema.Bytes
}

// shown returns a value for an error.
func shown(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

func hinted(name string, known []string) string {
	if hint := document.DidYouMean(name, known); hint != "" {
		return "; " + hint
	}
	return ""
}
