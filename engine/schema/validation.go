package schema

import (
	"slices"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Violations returns what the API server finds wrong with an object of a kind that a CRD
// defines, as far as its schema says, in the API server's words. Other kinds are validated
// by code.
func (s *Structure) Violations(o map[string]any) []error {
	if s == nil || s.validator == nil {
		return nil
	}
	return s.validator().Validate(o).Errors
}

// Violation is one of a single field.
type Violation = errors.Validation

// validatorOf returns what validates the objects of a custom kind. It is made once.
func validatorOf(root *spec.Schema) func() *validate.SchemaValidator {
	return sync.OnceValue(func() *validate.SchemaValidator {
		s := validated(root)
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			delete(s.Properties, name)
		}
		return validate.NewSchemaValidator(&s, nil, "", strfmt.Default)
	})
}

// validated returns a schema as the API server validates by it: without what it does not
// heed. A CRD with references is none; they would end the validator.
func validated(of *spec.Schema) spec.Schema {
	s := *of
	if refers(s) || slices.ContainsFunc(s.AllOf, refers) {
		return spec.Schema{}
	}
	if on, _ := s.Extensions.GetBool("x-kubernetes-int-or-string"); on {
		s.Type = spec.StringOrArray{"integer", "string"}
	}
	if !heededFormat(&s) {
		s.Format = ""
	}
	s.Default = nil
	s.Properties = make(map[string]spec.Schema, len(of.Properties))
	for name, property := range of.Properties {
		s.Properties[name] = validated(&property)
	}
	if s.Items != nil && s.Items.Schema != nil {
		item := validated(s.Items.Schema)
		s.Items = &spec.SchemaOrArray{Schema: &item}
	}
	if more := s.AdditionalProperties; more != nil && more.Schema != nil {
		elem := validated(more.Schema)
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: &elem}
	}
	return s
}

func refers(s spec.Schema) bool { return s.Ref.String() != "" }

// heededFormat reports whether the API server knows the format of a schema of its type.
func heededFormat(s *spec.Schema) bool {
	switch {
	case s.Type.Contains("integer"):
		return slices.Contains([]string{"int32", "int64"}, s.Format)
	case s.Type.Contains("number"):
		return slices.Contains([]string{"float", "double"}, s.Format)
	}
	return len(s.Type) == 0 || s.Type.Contains("string")
}
