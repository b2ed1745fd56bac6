package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// CheckTypes returns an error for the first object with a value of another type than its
// kind has: an API server refuses it.
func CheckTypes(schemas *schema.Set, objects []Object) error {
	for _, o := range objects {
		id := ID(o)
		t, known := schemas.Kind(id.GVK)
		if !known {
			continue
		}
		if err := CheckFields(t, o, false); err != nil {
			return fmt.Errorf("%s %s %w", id.Kind, id.Name, err)
		}
	}
	return nil
}

// CheckFields returns an error for the first field, in their order, whose value is of another
// type, or, if strict, that the type does not have.
func CheckFields(t *schema.Type, o Object, strict bool) error {
	return fields{strict}.check(t, o, "")
}

// fields checks the fields of objects.
type fields struct{ strict bool }

func (f fields) check(t *schema.Type, v any, path string) error {
	if err := mistyped(t, v, path); err != nil {
		return err
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			field := t.Field(name)
			if field == nil && f.strict {
				return fmt.Errorf("has %s, which the kind has not%s", at, document.Hinted(name, t.FieldNames()))
			}
			if field == nil {
				continue
			}
			if err := f.check(field, v[name], at); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := f.check(t.Item(), item, path+"[]"); err != nil {
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
	return fmt.Errorf("has %s: %s, which must be %s", path, display(v), want)
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

// display returns a value for an error.
func display(v any) string {
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
