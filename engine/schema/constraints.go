package schema

import (
	_ "embed"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// constraintsText says which numbers the code of the API server takes in fields of built-in
// definitions, of which their schemas do not say it; test/conformance tries each of them.
//
//go:embed constraints.json
var constraintsText []byte

var constraints = Table[map[string]spec.SchemaProps]("constraints", constraintsText)

// constrain adds to the schema of a field what the code of the API server requires of it.
func constrain(s *spec.Schema, definition, field string) {
	if of, ok := constraints()[definition][field]; ok {
		s.Minimum, s.Maximum = of.Minimum, of.Maximum
	}
}
