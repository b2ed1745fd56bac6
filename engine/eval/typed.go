package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// typedMerge returns an error if the API server cannot merge a value into an object by the
// schema of its kind: a value is of another type, or two entries of a list have the same
// keys. at is where the value stands.
func typedMerge(v value.Value, t *schema.Type, at string) error {
	if t == nil || t.Kind == schema.Dyn || value.IsNull(v) {
		return nil
	}
	switch v := v.(type) {
	case *value.Map:
		if t.Kind != schema.Object && t.Kind != schema.Map {
			return mistyped(at, "an object", t)
		}
		return typedFields(v, t, at)
	case *value.List:
		if t.Kind != schema.List {
			return mistyped(at, "a list", t)
		}
		return typedItems(v, t, at)
	}
	return typedScalar(v, t, at)
}

func typedFields(m *value.Map, t *schema.Type, at string) error {
	for i := range m.Len() {
		name, v := m.At(i)
		if err := typedMerge(v, t.Field(name), under(at, name)); err != nil {
			return err
		}
	}
	return nil
}

// under returns the path of a field; at the top, what precedes it ends with a blank.
func under(at, name string) string {
	if strings.HasSuffix(at, " ") {
		return at + name
	}
	return at + "." + name
}

func typedItems(list *value.List, t *schema.Type, at string) error {
	seen := map[string]int{}
	for i, item := range list.Items() {
		if err := typedMerge(item, t.Item(), fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
		if !t.Merged {
			continue
		}
		key := keyOfItem(item, t)
		if first, ok := seen[key]; ok && key != "" {
			return fmt.Errorf("%s[%d] has the same key as [%d], %s; the API server keeps one entry of a key. Change one of them, or leave it out", at, i, first, key)
		}
		seen[key] = i
	}
	return nil
}

// keyOfItem returns what tells an item from the others of a list that is merged; "" is not
// known.
func keyOfItem(item value.Value, t *schema.Type) string {
	if len(t.Keys) == 0 {
		if _, isMap := item.(*value.Map); isMap {
			return ""
		}
		return fmt.Sprint(value.Plain(item))
	}
	parts := make([]string, len(t.Keys))
	for i, name := range t.Keys {
		v := value.Plain(value.Path(item, name))
		if d, ok := t.Item().Default(name); ok && v == nil {
			v = d.Value
		}
		parts[i] = fmt.Sprintf("%s: %v", name, v)
	}
	return strings.Join(parts, ", ")
}

// typedScalar checks what is neither an object nor a list.
func typedScalar(v value.Value, t *schema.Type, at string) error {
	is, fits := "a string", []schema.Kind{schema.String, schema.Time, schema.Bytes}
	switch v.(type) {
	case types.Int, types.Uint, types.Double:
		is, fits = "a number", []schema.Kind{schema.Int, schema.Double}
	case types.Bool:
		is, fits = "a boolean", []schema.Kind{schema.Bool}
	}
	if slices.Contains(fits, t.Kind) {
		return nil
	}
	return mistyped(at, is, t)
}

// mistyped returns the error of a value of another type than the schema's.
func mistyped(at, is string, t *schema.Type) error {
	want := map[schema.Kind]string{
		schema.Object: "an object", schema.Map: "an object", schema.List: "a list", schema.String: "a string", schema.Time: "a time",
		schema.Bytes: "a string", schema.Int: "an integer", schema.Double: "a number", schema.Bool: "a boolean",
	}[t.Kind]
	return fmt.Errorf("%s is %s, and must be %s", at, is, want)
}
