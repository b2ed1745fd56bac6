package verify

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/edict-dev/edict/engine/simulate"
)

// patched returns a merge patch that sets a field; lists are whole in it.
func patched(o simulate.Object, names []any, v any) simulate.Object {
	id := simulate.ID(o)
	meta := simulate.Object{"name": id.Name()}
	if id.Namespace() != "" {
		meta["namespace"] = id.Namespace()
	}
	out := simulate.Object{"apiVersion": id.APIVersion(), "kind": id.Kind(), "metadata": meta}
	at, from := out, any(o)
	for i, name := range names {
		key, ok := name.(string)
		if !ok {
			return nil
		}
		m, _ := from.(simulate.Object)
		from = m[key]
		list, isList := from.([]any)
		switch {
		case i == len(names)-1:
			at[key] = v
			return out
		case isList:
			changed, _ := set(runtime.DeepCopyJSONValue(list), names[i+1:], v).([]any)
			at[key] = changed
			return out
		}
		next, _ := at[key].(simulate.Object)
		if next == nil {
			next = simulate.Object{}
			at[key] = next
		}
		at = next
	}
	return nil
}

// set changes a part of a value in place, and returns it.
func set(v any, names []any, to any) any {
	if len(names) == 0 {
		return to
	}
	switch name := names[0].(type) {
	case int:
		list, _ := v.([]any)
		list[name] = set(list[name], names[1:], to)
		return list
	default:
		m, _ := v.(simulate.Object)
		if m == nil {
			m = simulate.Object{}
		}
		key, _ := name.(string)
		if to == nil && len(names) == 1 {
			delete(m, key)
			return m
		}
		m[key] = set(m[key], names[1:], to)
		return m
	}
}
