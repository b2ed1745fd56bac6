package cel

import (
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/schema"
)

// reach are the object types that the declared names of an environment can reach.
type reach struct {
	provider *provider
	// types are the names of the types, names those of their fields.
	types, names map[string]bool
	// places are where fields stand, by name: the highest place in each kind.
	places map[string][]place
	// next are the types whose fields were not looked at yet, with where they stand.
	next []place
}

// place is where something stands in a type, such as .spec.containers of a Pod.
type place struct {
	root, path string
	of         *schema.Type
}

// within looks at the types in breadth, so that of the fields of one name that which stands
// highest is found first.
func within(e *Env) reach {
	r := reach{provider: e.provider, types: map[string]bool{}, names: map[string]bool{}, places: map[string][]place{}}
	for _, v := range e.Vars() {
		r.add(v.Type, place{})
	}
	for len(r.next) > 0 {
		p := r.next[0]
		r.next = r.next[1:]
		for _, name := range slices.Sorted(maps.Keys(p.of.Fields)) {
			field := place{root: p.root, path: p.path + "." + name}
			r.names[name] = true
			if !slices.ContainsFunc(r.places[name], func(p place) bool { return p.root == field.root }) {
				r.places[name] = append(r.places[name], field)
			}
			r.add(r.provider.typeOf(p.of.Fields[name]), field)
		}
	}
	return r
}

func (r *reach) add(t *Type, at place) {
	for _, p := range t.Parameters() {
		r.add(p, at)
	}
	object := r.provider.object(t.TypeName())
	if object == nil || r.types[t.TypeName()] {
		return
	}
	r.types[t.TypeName()] = true
	if at.root == "" {
		name := TypeName(t)
		at.root = name[strings.LastIndex(name, ".")+1:]
	}
	at.of = object
	r.next = append(r.next, at)
}

// maxPlaces is how many places of a field a hint names.
const maxPlaces = 3

// elsewhere says where a field stands that is not where it was looked for.
func (r reach) elsewhere(field string) string {
	var out []string
	for _, at := range r.places[field] {
		out = append(out, at.path+" of "+at.root)
	}
	if len(out) == 0 || len(out) > maxPlaces {
		return ""
	}
	return "there is " + strings.Join(out, ", ")
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
