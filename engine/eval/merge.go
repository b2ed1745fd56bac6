package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// mergeDiff merges wanted fields into a value as a JSON merge patch does:
// objects are merged, null removes, everything else replaces. It returns the
// value afterwards and the smallest patch that leads there; the patch is nil
// if nothing changes. Absent and null are equal, and so are values that the API
// server stores in one form according to the type. An empty object or list is a value.
func mergeDiff(current, want value.Value, t *schema.Type) (next, patch value.Value) {
	if value.IsNull(want) {
		if value.IsNull(current) {
			return current, nil
		}
		return nil, value.Null
	}
	if fields, ok := want.(*value.Map); ok {
		return mergeFields(current, fields, t)
	}
	if Stored(current, want, t) {
		return current, nil
	}
	return asRead(want, t), want
}

func mergeFields(current value.Value, want *value.Map, t *schema.Type) (next, patch value.Value) {
	into, ok := current.(*value.Map)
	if !ok && want.Len() == 0 {
		return want, want
	}
	if !ok {
		into = value.Empty
	}
	var names [fewFields]string
	var nexts, diffs [fewFields]value.Value
	keys, after, changes := names[:0], nexts[:0], diffs[:0]
	for i := range want.Len() {
		key, v := want.At(i)
		is := into.Lookup(key)
		if leftOut(v, t, key) {
			if leftOut(is, t, key) {
				continue
			}
			if _, isMap := v.(*value.Map); !isMap {
				v = value.Null
			}
		}
		next, change := mergeDiff(is, v, typeOf(t, key))
		if change == nil || value.IsNull(change) && isDefault(is, t, key) {
			continue
		}
		keys, after, changes = append(keys, key), append(after, next), append(changes, change)
	}
	if len(keys) == 0 {
		return current, nil
	}
	return into.WithAll(keys, after), value.Empty.WithAll(keys, changes)
}

// leftOut reports whether the API server stores an object of a type as if a field were
// absent, since its value is null, or an empty list or map of a built-in kind.
func leftOut(v value.Value, t *schema.Type, name string) bool {
	switch v := v.(type) {
	case *value.List:
		return v.Len() == 0 && t.Omitted(name, true)
	case *value.Map:
		return v.Len() == 0 && t.Omitted(name, false)
	}
	return value.IsNull(v)
}

// typeOf returns the type of a field, as far as it is known.
func typeOf(t *schema.Type, field string) *schema.Type {
	if t == nil {
		return nil
	}
	return t.Field(field)
}

// typeAt returns the type at a path, as far as it is known.
func typeAt(t *schema.Type, path []string) *schema.Type {
	for _, name := range path {
		t = typeOf(t, name)
	}
	return t
}

// fewFields is how many fields change without memory for a list of them.
const fewFields = 16

// nest puts a value under a path of field names.
func nest(path []string, v value.Value) *value.Map {
	for _, name := range slices.Backward(path) {
		v = value.Field(name, v)
	}
	m, _ := v.(*value.Map)
	return m
}
