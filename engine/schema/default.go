package schema

import "k8s.io/kube-openapi/pkg/validation/spec"

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
