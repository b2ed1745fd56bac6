package cel

import (
	"maps"
	"slices"
)

// reach are the object types that the declared names of an environment can reach.
type reach struct {
	provider *provider
	// types are the names of the types, names those of their fields.
	types, names map[string]bool
}

func within(e *Env) reach {
	r := reach{provider: e.provider, types: map[string]bool{}, names: map[string]bool{}}
	for _, v := range e.vars {
		r.add(v.Type)
	}
	return r
}

func (r reach) add(t *Type) {
	for _, p := range t.Parameters() {
		r.add(p)
	}
	object := r.provider.object(t.TypeName())
	if object == nil || r.types[t.TypeName()] {
		return
	}
	r.types[t.TypeName()] = true
	for name, field := range object.Fields {
		r.names[name] = true
		r.add(r.provider.typeOf(field))
	}
}

// withheld returns why the kinds of an input do not share a field; "" when it is no
// field of theirs.
func (r reach) withheld(field string) string {
	for _, name := range slices.Sorted(maps.Keys(r.types)) {
		if why := r.provider.object(name).Without(field); why != "" {
			return why
		}
	}
	return ""
}
