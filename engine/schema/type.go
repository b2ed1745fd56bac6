package schema

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Kind is the sort of a type.
type Kind int

// The sorts of types.
const (
	// Dyn is any JSON value.
	Dyn Kind = iota
	// Object has named Fields.
	Object
	// Map has string keys and values of type Elem.
	Map
	// List has items of type Elem.
	List
	String
	Int
	Double
	Bool
	// Time is a string in the form of RFC 3339.
	Time
	Bytes
)

// Type is the type of a JSON value. It is immutable once built.
type Type struct {
	Kind Kind
	// Name is unique per Object type: where the type stands in its schema.
	Name string
	// Fields are the fields of an Object.
	Fields map[string]*Type
	// present are the fields that an object always has, as far as its schema says;
	// identity those that the API server gives.
	present, identity map[string]bool
	// nullable are the fields of an Object of which null is a value.
	nullable []string
	// demanded are fields that the API server demands here, though not wherever it uses
	// the definition of the type.
	demanded map[string]bool
	// defaults are what the API server gives fields of an Object that are left out, as
	// plain values.
	defaults map[string]Default
	// of are the types that an Object is what they share of, without why they do not
	// share some fields.
	of      []*Type
	without map[string]string
	// Open says that an Object may hold further, untyped fields.
	Open bool
	// Omits is true if the API server omits fields of an Object that are empty lists or maps,
	// as the Go types of built-in kinds do. It keeps empty objects: a selector that selects
	// everything is not an absent one.
	Omits bool
	// Elem is the type of a Map's values or a List's items.
	Elem *Type
	// Merged says that server-side apply merges the items of a List one by one, Atomic that
	// it replaces an Object as a whole.
	Merged, Atomic bool
	// Keys are the fields that identify the items of a merged List; a set has none.
	Keys []string
	// Enum are the only values a String may have; none means any.
	Enum []string
	// limits are what else a schema says of the values; nil for nothing.
	limits *limits
	// IntOrString says that a Dyn value is an integer or a string.
	IntOrString bool
	// Quantity says that a Dyn value is a quantity such as 100m, which the API
	// server may write in another form.
	Quantity bool
	// Cut is what the API server cuts a Time to: a second or a microsecond. 0 is that it
	// keeps the text as it was written.
	Cut time.Duration
	// Guess says that in a Dyn value strings of fields named ...Time or
	// ...Timestamp are date-times, because no schema tells.
	Guess bool
	// stores is what Verbatim has found.
	stores atomic.Int32
}

// Any is the type of a value nothing is known of.
var Any = &Type{Kind: Dyn}

// Field returns the type of a field of an object or a value of a map; nil when
// the type says that there is none.
func (t *Type) Field(name string) *Type {
	if t == nil {
		return Any
	}
	switch t.Kind {
	case Object:
		if f, ok := t.Fields[name]; ok {
			return f
		}
		if t.Open {
			return Any
		}
		return nil
	case Map:
		return t.Elem
	case Dyn:
		return t
	default:
		return nil
	}
}

// Nullable reports whether null is a value of a field.
func (t *Type) Nullable(name string) bool { return t != nil && slices.Contains(t.nullable, name) }

// Item returns the type of a list's items; Any when that is not known.
func (t *Type) Item() *Type {
	switch {
	case t == nil:
		return Any
	case t.Kind == List && t.Elem != nil:
		return t.Elem
	case t.Kind == Dyn:
		return t
	default:
		return Any
	}
}

// Omitted reports whether the API server stores a field of an object as if it were absent
// because its value, a list or a map, is empty.
func (t *Type) Omitted(name string, isList bool) bool {
	if t == nil || !t.Omits {
		return false
	}
	f := t.Field(name)
	return isList || f != nil && f.Kind == Map
}

// FieldNames returns the names of an object's fields, sorted.
func (t *Type) FieldNames() []string {
	return slices.Sorted(maps.Keys(t.Fields))
}

// Untyped is the type of an object of a kind without a schema: its metadata
// is known, everything else is not, but date-times are still found by name.
func Untyped() *Type {
	guess := &Type{Kind: Dyn, Guess: true}
	return &Type{Kind: Object, Name: "", Open: true, Fields: map[string]*Type{
		"apiVersion": {Kind: String},
		"kind":       {Kind: String},
		"metadata":   Metadata(),
		"spec":       guess,
		"status":     guess,
	}}
}

// Metadata is the type of metadata in kinds whose schema leaves it out.
func Metadata() *Type {
	text, labels := &Type{Kind: String}, &Type{Kind: Map, Elem: &Type{Kind: String}}
	second := &Type{Kind: Time, Cut: time.Second}
	owner := &Type{Kind: Object, Name: "ObjectMeta.ownerReferences", Fields: map[string]*Type{
		"apiVersion": text, "kind": text, "name": text, "uid": text,
		"controller": {Kind: Bool}, "blockOwnerDeletion": {Kind: Bool},
	}}
	return &Type{Kind: Object, Name: "ObjectMeta", Omits: true, identity: identity, Fields: map[string]*Type{
		"name": text, "generateName": text, "namespace": text, "uid": text, "selfLink": text,
		"resourceVersion": text, "generation": {Kind: Int},
		"creationTimestamp": second, "deletionTimestamp": second,
		"deletionGracePeriodSeconds": {Kind: Int},
		"labels":                     labels, "annotations": labels,
		"finalizers":      {Kind: List, Elem: text, Merged: true},
		"ownerReferences": {Kind: List, Elem: owner, Merged: true, Keys: []string{"uid"}},
		"managedFields":   {Kind: List, Elem: Any},
	}}
}

// Default is what the API server gives a field that is left out.
type Default struct {
	// Value is a plain value, with numbers as JSON has them.
	Value any
	// Nullable says that null is a value of the field, and not left out.
	Nullable bool
}

// Default returns the default of a field, as far as the schema says one: most of those of
// built-in kinds are in the code of the API server.
func (t *Type) Default(field string) (d Default, ok bool) {
	if t == nil {
		return Default{}, false
	}
	d, ok = t.defaults[field]
	return d, ok
}

// defaultsOf returns the defaults of an object's fields; nil for none.
func defaultsOf(s *spec.Schema) (out map[string]Default) {
	for name, property := range s.Properties {
		if property.Default == nil {
			continue
		}
		if out == nil {
			out = map[string]Default{}
		}
		out[name] = Default{Value: property.Default, Nullable: property.Nullable}
	}
	return out
}
