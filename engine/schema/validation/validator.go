package validation

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apiservercel "k8s.io/apiserver/pkg/apis/cel"
)

// Validator validates the objects of one version of a CRD. It is safe for concurrent use.
type Validator struct {
	structural *schema.Structural
	// whole validates objects, status their status alone; nil where the schema has none.
	whole, status validation.SchemaValidator
	// rules are those of x-kubernetes-validations; nil for none.
	rules *cel.Validator
}

// New makes the validator of a schema, the openAPIV3Schema of a version in JSON. An API
// server refuses a CRD for which it fails. It refuses one with a rule that does not compile
// as well; such a rule is an error of each write here.
func New(text []byte) (*Validator, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	v := &Validator{}
	if v.structural, err = schema.NewStructural(root); err != nil {
		return nil, err
	}
	if v.whole, _, err = validation.NewSchemaValidator(root); err != nil {
		return nil, err
	}
	if status, has := root.Properties["status"]; has {
		if v.status, _, err = validation.NewSchemaValidator(&status); err != nil {
			return nil, err
		}
	}
	v.rules = cel.NewValidator(v.structural, true, apiservercel.PerCallLimit)
	return v, nil
}

func parse(text []byte) (*apiextensions.JSONSchemaProps, error) {
	var given apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	out := &apiextensions.JSONSchemaProps{}
	return out, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&given, out, nil)
}
