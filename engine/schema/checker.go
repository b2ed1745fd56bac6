package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Checker checks plain JSON values against types, as far as an API server must be able to
// decode them.
type Checker struct {
	// Unknown returns the error of a field that an object of type t does not have, at a
	// path. If it is nil, such fields are allowed: an API server drops them.
	Unknown func(t *Type, name, path string) error
	// Keys refuses two items with the same keys in a list that server-side apply merges.
	Keys bool
}

// Check returns an error for the first value, in the order of the fields, that is wrong.
func (c Checker) Check(t *Type, v any) error { return c.at(t, v, "") }

func (c Checker) at(t *Type, v any, path string) error {
	if t == nil {
		return nil
	}
	if want := nouns[t.Kind]; want != "" && v != nil && path != "" && !t.Kind.holds(v) {
		return fmt.Errorf("has %s: %s, which must be %s", path, display(v), want)
	}
	switch v := v.(type) {
	case map[string]any:
		return c.fields(t, v, path)
	case []any:
		return c.items(t, v, path)
	}
	return nil
}

func (c Checker) fields(t *Type, o map[string]any, path string) error {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		at := strings.TrimPrefix(path+"."+name, ".")
		field := t.Field(name)
		if field == nil && c.Unknown != nil {
			return c.Unknown(t, name, at)
		}
		if err := c.at(field, o[name], at); err != nil {
			return err
		}
	}
	return nil
}

func (c Checker) items(t *Type, list []any, path string) error {
	seen := map[string]bool{}
	for _, item := range list {
		if err := c.at(t.Item(), item, path+"[]"); err != nil {
			return err
		}
		if !c.Keys || !t.Merged {
			continue
		}
		key := t.keyOf(item)
		if key != "" && seen[key] {
			return fmt.Errorf("has two entries with %s in %s, of which an API server keeps one; change one, or leave it out", key, path)
		}
		seen[key] = true
	}
	return nil
}

// keyOf returns the keys of an item of a merged list with their values, or the item of a set.
// It returns "" if the keys are not known.
func (t *Type) keyOf(item any) string {
	o, isMap := item.(map[string]any)
	switch {
	case isMap && len(t.Keys) == 0:
		return ""
	case !isMap:
		return fmt.Sprint(item)
	}
	parts := make([]string, len(t.Keys))
	for i, name := range t.Keys {
		v := o[name]
		if d, ok := t.Item().Default(name); ok && v == nil {
			v = d.Value
		}
		parts[i] = fmt.Sprintf("%s: %v", name, v)
	}
	return strings.Join(parts, ", ")
}

// nouns name the values of the kinds whose values are checked.
var nouns = map[Kind]string{
	Object: "an object", Map: "an object", List: "a list", String: "a text", Int: "a whole number",
	Double: "a number", Bool: "true or false", Time: "a text", Bytes: "a text",
}

// holds reports whether a plain value is of the kind.
func (k Kind) holds(v any) bool {
	switch v.(type) {
	case map[string]any:
		return k == Object || k == Map
	case []any:
		return k == List
	case bool:
		return k == Bool
	case int64:
		return k == Int || k == Double
	case float64:
		return k == Double
	}
	return k == String || k == Time || k == Bytes
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
