package verify

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// place is a field of an object, or where it would be.
type place struct {
	// names lead there: names of fields, and indexes of items.
	names []any
	// typ is what is known of its values, required that it must be there.
	typ      *schema.Type
	required bool
	now      any
}

// find returns the places of a path in a value.
func (p place) find(v any, path []string) []place {
	p.now = v
	if len(path) == 0 {
		return []place{p}
	}
	name, rest := path[0], path[1:]
	if name != each {
		m, _ := v.(simulate.Object)
		if _, scalar := v.(string); scalar {
			return nil
		}
		return p.into(name, p.typ != nil && p.typ.Kind == schema.Object && !p.typ.MayLack(name), field(p.typ, name)).find(m[name], rest)
	}
	var out []place
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			out = append(out, p.into(i, true, p.typ.Item()).find(item, rest)...)
		}
	case simulate.Object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, p.into(key, false, field(p.typ, key)).find(v[key], rest)...)
		}
	}
	return out
}

func field(t *schema.Type, name string) *schema.Type {
	if t == nil {
		return nil
	}
	return t.Field(name)
}

func (p place) into(name any, required bool, t *schema.Type) place {
	return place{names: append(slices.Clone(p.names), name), typ: t, required: required}
}
