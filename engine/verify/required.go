package verify

import (
	"slices"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// complete gives an object the fields without which the API server refuses it, as far as
// values are known for them.
func complete(t *schema.Type, o simulate.Object) {
	if t == nil || t.Kind != schema.Object {
		return
	}
	for _, name := range t.FieldNames() {
		if inner, ok := o[name].(simulate.Object); ok {
			complete(t.Field(name), inner)
		} else if o[name] == nil && needs(t, name) {
			o[name] = leastIn(t, name)
		}
	}
}

// needs reports whether a field must be there and nothing else sets it. An object of a
// built-in kind has what its schema requires, though nothing may be in it, and its parts
// with an empty default; and code of the API server sets or demands other fields, which
// the server in memory does not.
func needs(t *schema.Type, field string) bool {
	_, set := t.Default(field)
	switch {
	case t.Requires(field):
		return !set
	case t.Always(field):
		return !set || t.Field(field).Kind == schema.Object
	}
	return schema.Defaulted(t.Name, field)
}

// leastIn returns a value of a field that must be there. A list that a built-in kind
// requires has an item: by code of its own the API server refuses most that are empty.
func leastIn(t *schema.Type, field string) any {
	inner := t.Field(field)
	if inner.Kind == schema.List && !t.Requires(field) {
		return []any{least(inner.Item())}
	}
	return least(inner)
}

// least returns a value of a type with no more in it than there must be.
func least(t *schema.Type) any {
	switch t.Kind {
	case schema.Object, schema.Map:
		o := simulate.Object{}
		complete(t, o)
		return o
	case schema.List:
		if refused(t, []any{}) {
			return []any{least(t.Item())}
		}
		return []any{}
	case schema.Int:
		return fitting(t, int64(0), int64(1))
	case schema.Double:
		return fitting(t, 0.0, 1.0)
	case schema.Bool:
		return false
	case schema.Time:
		return "2026-01-01T00:00:00Z"
	case schema.Dyn:
		return "1"
	}
	if len(t.Enum) > 0 {
		return t.Enum[0]
	}
	return fitting(t, append([]any{"a"}, forms...)...)
}

// forms are texts of which one may have the form that a pattern wants.
var forms = []any{"1", "a1", "A", "1h", "1Gi", "a.a", "10.0.0.1", "2026-01-01T00:00:00Z"}

// fitting returns the first of the values, and of those at the limits of the type, that the
// API server takes there; the first if it takes none.
func fitting(t *schema.Type, values ...any) any {
	for _, v := range slices.Concat(values, t.Edges()) {
		if !refused(t, v) {
			return v
		}
	}
	return values[0]
}

// refused reports whether the API server takes no such value at a place.
func refused(t *schema.Type, v any) bool {
	if t == nil || v == nil {
		return false
	}
	reason, _ := t.Refused(v)
	return reason != ""
}
