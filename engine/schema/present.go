package schema

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// defaultedFields are optional fields of built-in kinds that the API server sets by
// itself; hack/defaulted writes the file.
//
//go:embed defaulted.txt
var defaultedFields string

var defaulted = sync.OnceValue(func() map[string]bool { return linesOf(defaultedFields) })

// demandedFields are fields of built-in kinds without which the code of the API server
// refuses an object, of the kinds that are written most. A field that a schema requires
// need not be one: the zero value of some is allowed. test/conformance leaves out each of
// them.
//
//go:embed demanded.txt
var demandedFields string

var demanded = sync.OnceValue(func() map[string]bool { return linesOf(demandedFields) })

func linesOf(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(text) {
		out[strings.TrimSpace(line)] = true
	}
	return out
}

// Defaulted reports whether the API server may set a field of a definition of a built-in
// kind by itself.
func Defaulted(definition, field string) bool { return defaulted()[definition+" "+field] }

// builtinPrefix begins the definitions of built-in kinds.
const builtinPrefix = "io.k8s."

// always are fields that every object of a kind has, or that are no concern of an
// author; the status of a custom resource is absent until something writes it.
var always = []string{"apiVersion", "kind", "metadata", "spec"}

// MayLack reports whether an object of the type may lack one of its fields: the
// field is known, and nothing says that it is always there.
func (t *Type) MayLack(field string) bool {
	if t.Kind != Object || t.Fields[field] == nil || t.present[field] || t.identity[field] {
		return false
	}
	if t.of != nil {
		return slices.ContainsFunc(t.of, func(one *Type) bool { return one.MayLack(field) })
	}
	builtin := strings.HasPrefix(t.Name, builtinPrefix)
	if t.Fields["metadata"] != nil && (slices.Contains(always, field) || builtin && field == "status") {
		return false
	}
	if builtin && field == "lastTransitionTime" {
		return false // the controllers of Kubernetes always set it
	}
	return !builtin || !Defaulted(t.Name, field)
}

// Record returns the type of an Object that always has all of some fields.
func Record(name string, fields map[string]*Type) *Type {
	t := &Type{Kind: Object, Name: name, Fields: fields, present: map[string]bool{}}
	for field := range fields {
		t.present[field] = true
	}
	return t
}

// Requires reports whether the API server refuses an object of the type without a field
// because of its schema. It validates built-in kinds by code of its own, not by their
// schemas.
func (t *Type) Requires(field string) bool {
	return t.Kind == Object && t.present[field] && !strings.HasPrefix(t.Name, builtinPrefix)
}

// Demands reports whether the API server refuses an object of the type that is made
// without a field, because nothing gives it one.
func (t *Type) Demands(field string) bool {
	if t.Requires(field) {
		_, given := t.Default(field)
		return !given
	}
	return t.Kind == Object && (t.demanded[field] || demanded()[t.Name+" "+field])
}

// Always reports whether every object of the type that the API server returns has a field:
// the field is required, or has a default.
func (t *Type) Always(field string) bool { return t.Kind == Object && t.present[field] }

// identity are the fields that the API server gives every object.
var identity = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true, "creationTimestamp": true, "generation": true, "managedFields": true, "selfLink": true,
}

// presentFields are the fields of an object that are required or have a default.
func presentFields(s *spec.Schema) map[string]bool {
	out := map[string]bool{}
	for _, name := range s.Required {
		out[name] = true
	}
	for name, property := range s.Properties {
		if property.Default != nil {
			out[name] = true
		}
	}
	return out
}
