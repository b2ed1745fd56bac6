package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Result says what a query may give. Without an Enum and a Schema it is
// anything.
type Result struct {
	// Query names the query in messages.
	Query string
	// Enum are the only texts that it may give.
	Enum []string
	// Schema is the type that it must fit.
	Schema *schema.Type
}

// Check says what is wrong with a value; nil when it is allowed.
func (r Result) Check(v value.Value) error {
	if len(r.Enum) > 0 {
		if s, ok := value.Str(v); !ok || !slices.Contains(r.Enum, s) {
			return fmt.Errorf("%s gave %s, which is none of %s", r.Query, brief(v), strings.Join(r.Enum, ", "))
		}
	}
	if r.Schema != nil {
		return fit(v, r.Schema, r.Query)
	}
	return nil
}

// brief writes a scalar, and what a list or an object is.
func brief(v value.Value) string {
	const longest = 64
	if s, ok := value.Str(v); ok {
		return fmt.Sprintf("%q", value.Cut(s, longest))
	}
	if text, err := value.Text(v); err == nil {
		return text
	}
	return sortOf(v)
}

// sortOf names the sort of a value.
func sortOf(v value.Value) string {
	switch v.(type) {
	case *value.Map:
		return "an object"
	case *value.List:
		return "a list"
	case types.String:
		return "a string"
	case types.Int, types.Uint:
		return "an integer"
	case types.Double:
		return "a number"
	case types.Bool:
		return "a boolean"
	}
	return "null"
}

// fit checks a value and its parts; where is the path to it.
func fit(v value.Value, want *schema.Type, where string) error {
	switch got := v.(type) {
	case *value.Map:
		if want.Kind == schema.Object || want.Kind == schema.Map {
			return fitFields(got, want, where)
		}
	case *value.List:
		if want.Kind == schema.List {
			for i, item := range got.Items() {
				if err := fit(item, want.Item(), fmt.Sprintf("%s[%d]", where, i)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return fitScalar(v, want, where)
}

func fitFields(m *value.Map, want *schema.Type, where string) error {
	for i := range m.Len() {
		name, v := m.At(i)
		field := want.Field(name)
		if field == nil {
			return fmt.Errorf("%s has a field %q, which its schema does not have", where, name)
		}
		if err := fit(v, field, where+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// wanted are the sorts of values that fit a kind; a kind that is not here takes
// any value.
var wanted = map[schema.Kind][]string{
	schema.Object: {"an object"},
	schema.Map:    {"an object"},
	schema.List:   {"a list"},
	schema.String: {"a string"},
	schema.Time:   {"a string"},
	schema.Bytes:  {"a string"},
	schema.Int:    {"an integer"},
	schema.Double: {"a number", "an integer"},
	schema.Bool:   {"a boolean"},
}

func fitScalar(v value.Value, want *schema.Type, where string) error {
	sorts, known := wanted[want.Kind]
	if got := sortOf(v); known && !slices.Contains(sorts, got) {
		return fmt.Errorf("%s is %s, not %s", where, got, sorts[0])
	}
	if s, ok := value.Str(v); ok && len(want.Enum) > 0 && !slices.Contains(want.Enum, s) {
		return fmt.Errorf("%s is %s, which is none of %s", where, brief(v), strings.Join(want.Enum, ", "))
	}
	return nil
}
