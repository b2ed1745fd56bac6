package schema

import (
	"slices"
	"strings"
)

// maxShared bounds how deep types are compared.
const maxShared = 40

// Shared returns the type of what may be of any of several types: the fields that all
// of them have, with the same type. names are those of the types, for the reasons in
// Without.
func Shared(names []string, of []*Type) *Type {
	if t := (sharing{names}).of(of, maxShared); t != nil {
		return t
	}
	return Any
}

// sharing compares types that have names.
type sharing struct{ names []string }

// of returns what types share; nil when they are of different sorts.
func (s sharing) of(list []*Type, depth int) *Type {
	first := list[0]
	different := func(t *Type) bool { return t != first && (t.Kind != Object || t.Name == "" || t.Name != first.Name) }
	untyped := func(t *Type) bool { return t == nil || t.Kind == Dyn || t.Kind == Object && t.Name == "" }
	otherSort := func(t *Type) bool { return t.Kind != first.Kind }
	switch {
	case !slices.ContainsFunc(list, different):
		return first
	case slices.ContainsFunc(list, untyped) || depth == 0:
		return Any
	case slices.ContainsFunc(list, otherSort):
		return nil
	}
	switch first.Kind {
	case Object:
		return s.object(list, depth)
	case Map, List:
		elem := s.of(each(list, func(t *Type) *Type { return t.Elem }), depth-1)
		if elem == nil {
			return nil
		}
		return &Type{Kind: first.Kind, Elem: elem}
	default:
		return &Type{Kind: first.Kind}
	}
}

// object returns the fields that objects share, and why they share no others.
func (s sharing) object(list []*Type, depth int) *Type {
	out := &Type{Kind: Object, Fields: map[string]*Type{}, without: map[string]string{}, of: list}
	out.Open = !slices.ContainsFunc(list, func(t *Type) bool { return !t.Open })
	var names []string
	for _, t := range list {
		names = append(names, t.Name)
		for field := range t.Fields {
			s.field(out, field, depth)
		}
	}
	out.Name = strings.Join(names, "|")
	return out
}

// field adds a field to what objects share, or why they do not share it.
func (s sharing) field(out *Type, field string, depth int) {
	if out.Fields[field] != nil || out.without[field] != "" {
		return
	}
	types := each(out.of, func(t *Type) *Type { return t.Field(field) })
	var lacking []string
	for i, t := range types {
		if t == nil {
			lacking = append(lacking, s.names[i])
		}
	}
	if lacking != nil {
		out.without[field] = strings.Join(lacking, " and ") + " has no such field"
		if len(lacking) > 1 {
			out.without[field] = strings.Join(lacking, " and ") + " have no such field"
		}
	} else if t := s.of(types, depth-1); t != nil {
		out.Fields[field] = t
	} else {
		out.without[field] = "its types differ between " + strings.Join(s.names, " and ")
	}
}

func each(list []*Type, get func(*Type) *Type) []*Type {
	out := make([]*Type, len(list))
	for i, t := range list {
		out[i] = get(t)
	}
	return out
}

// Without returns why several kinds do not share a field that some of them have; ""
// for any other field.
func (t *Type) Without(field string) string { return t.without[field] }
