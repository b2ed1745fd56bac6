package schema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// constraintsText says which numbers the code of the API server takes in fields of built-in
// definitions, of which their schemas do not say it; test/conformance tries each of them.
//
//go:embed constraints.json
var constraintsText []byte

var constraints = sync.OnceValue(func() map[string]map[string]spec.SchemaProps {
	out := map[string]map[string]spec.SchemaProps{}
	if err := json.Unmarshal(constraintsText, &out); err != nil {
		panic(fmt.Sprintf("the embedded table of constraints: %v", err))
	}
	return out
})

// constrain adds to the schema of a field what the code of the API server requires of it.
func constrain(s *spec.Schema, definition, field string) {
	if of, ok := constraints()[definition][field]; ok {
		s.Minimum, s.Maximum = of.Minimum, of.Maximum
	}
}
