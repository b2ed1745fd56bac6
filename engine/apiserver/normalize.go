package apiserver

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// normalize returns an object the form in which the server stores it: defaulted,
// without fields that the schema does not have, and as a built-in type would
// be written. Fields that old has, too, are not pruned: what was given to the
// server as the state of a cluster may have more than its schema. Of what is applied, nulls
// are kept, so that validation refuses them where null is no value.
func (k kind) normalize(o, old Object, applied bool) {
	if k.gvk == schema.Secret {
		secret(o)
	}
	if k.structure != nil {
		normalizer{k.structure.Definitions, k.builtin(), applied && k.structure.Validator() != nil}.object(o, old, k.structure.Root)
	}
}

type normalizer struct {
	definitions *schema.Definitions
	// typed says that the values pass through the types of Go: null and empty
	// fields are left out, and quantities and times have one form only.
	typed bool
	// nulls says that those that are not allowed are kept.
	nulls bool
}

func (n normalizer) value(v, old any, s *spec.Schema) any {
	s, name := n.definitions.Resolve(s)
	if write := forms[name]; write != nil && n.typed {
		return write(v)
	}
	switch v := v.(type) {
	case Object:
		was, _ := old.(Object)
		n.object(v, was, s)
	case []any:
		if s.Items != nil && s.Items.Schema != nil {
			was, _ := old.([]any)
			for i := range v {
				var before any
				if i < len(was) {
					before = was[i] // by place: this only spares fields that no schema knows
				}
				v[i] = n.value(v[i], before, s.Items.Schema)
			}
		}
	}
	return v
}

// forms write values of definitions in the only form that their types of Go have.
var forms = map[string]func(v any) any{
	schema.QuantityDefinition:  quantity,
	schema.TimeDefinition:      func(v any) any { return instant(v, time.RFC3339) },
	schema.MicroTimeDefinition: func(v any) any { return instant(v, metav1.RFC3339Micro) },
}

// instant returns a time in a layout, which cuts what it has no place for.
func instant(v any, layout string) any {
	text, _ := v.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return v
	}
	return at.UTC().Format(layout)
}

// quantity returns the canonical form of a quantity.
func quantity(v any) any {
	q, err := value.ParseQuantity(fmt.Sprint(v))
	if err != nil {
		return v
	}
	return q.String()
}

func (n normalizer) object(o, old Object, s *spec.Schema) {
	s, _ = n.definitions.Resolve(s)
	for field, v := range o {
		was, had := old[field]
		property, known := n.property(s, field)
		if v == nil {
			v = n.zero(s, field)
			o[field] = v
		}
		switch {
		case v == nil && property != nil && n.leavesOut(property, had):
			delete(o, field)
		case property != nil:
			inner := n
			inner.typed = n.typed || field == "metadata" && n.isMeta(property)
			if o[field] = inner.value(v, was, property); inner.typed && inner.empty(o[field], property) {
				delete(o, field)
			}
		case !known && !had:
			delete(o, field)
		}
	}
	n.defaults(o, s)
}

// zero returns the zero value of the Go type of a null entry of a map of strings or
// quantities, or nil for any other field.
func (n normalizer) zero(s *spec.Schema, field string) any {
	if _, named := s.Properties[field]; named || !n.typed || s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil {
		return nil
	}
	s, name := n.definitions.Resolve(s.AdditionalProperties.Schema)
	switch {
	case name == schema.QuantityDefinition:
		return "0"
	case s.Type.Contains("string"):
		return ""
	}
	return nil
}

// isMeta reports whether a schema is that of the metadata of objects, to which published
// schemas refer in more than one way.
func (n normalizer) isMeta(s *spec.Schema) bool {
	_, name := n.definitions.Resolve(s)
	return name == schema.MetaDefinition
}

// leavesOut reports whether a null is like no value: also one of an object that is read,
// and one that a default takes the place of.
func (n normalizer) leavesOut(property *spec.Schema, had bool) bool {
	return n.typed || !property.Nullable && (!n.nulls || had || property.Default != nil)
}

// property returns the schema of a field; known says that the field may be there
// although nothing is said of it.
func (n normalizer) property(s *spec.Schema, field string) (property *spec.Schema, known bool) {
	if p, ok := s.Properties[field]; ok {
		return &p, true
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema, s.AdditionalProperties.Allows || s.AdditionalProperties.Schema != nil
	}
	if on, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields"); on {
		return nil, true
	}
	if on, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); on && (field == "apiVersion" || field == "kind" || field == "metadata") {
		return nil, true
	}
	return nil, n.typed && len(s.Properties) == 0 // raw JSON
}

// empty reports whether a Go type would leave the field out.
func (n normalizer) empty(v any, property *spec.Schema) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case Object:
		s, _ := n.definitions.Resolve(property)
		return len(v) == 0 && s.AdditionalProperties != nil
	}
	return false
}
