package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Validator validates values against an OpenAPI schema, by the library with which the API
// server validates custom resources. It is safe for concurrent use.
type Validator struct {
	// Type is the type of the values.
	Type      *Type
	validator *validate.SchemaValidator
}

// NewValidator makes a validator of an OpenAPI schema as plain JSON values; name is where it
// stands. An object may have the fields of its schema only, unless additionalProperties or
// x-kubernetes-preserve-unknown-fields say otherwise.
func NewValidator(name string, raw any) (*Validator, error) {
	if _, ok := raw.(map[string]any); !ok {
		return nil, errors.New("a schema is a mapping, such as {type: string}")
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	var s spec.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	if err := strictly(&s, "", true); err != nil {
		return nil, err
	}
	b := builder{named: map[string]*Type{}}
	return &Validator{Type: b.build(&s, name), validator: validate.NewSchemaValidator(&s, nil, name, strfmt.Default)}, nil
}

// Validate returns an error for plain JSON values that the schema does not allow. It names
// their places, below root.
func (v *Validator) Validate(root string, plain any) error {
	found := v.validator.Validate(plain)
	if found.IsValid() {
		return nil
	}
	messages := make([]string, len(found.Errors))
	for i, err := range found.Errors {
		text := strings.ReplaceAll(strings.Replace(err.Error(), v.validator.Path, root, 1), " in body", "")
		messages[i] = anotherType.ReplaceAllString(text, "must be of type $1, not $2")
	}
	slices.Sort(messages)
	return errors.New(strings.Join(slices.Compact(messages), "; "))
}

// anotherType is how the library names a type in the place of a value.
var anotherType = regexp.MustCompile(`must be of type (object|array|string|integer|number|boolean): "(\w+)"$`)

// schemaTypes are the types of OpenAPI.
var schemaTypes = []string{"object", "array", "string", "integer", "number", "boolean"}

// strictly rejects what a schema says and nobody heeds, and closes objects if that is
// wanted. path is where the schema is in that of the whole.
func strictly(s *spec.Schema, path string, closed bool) error {
	if err := heeded(s); err != nil {
		return fmt.Errorf("%s%w", prefix(path), err)
	}
	open, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	if closed && len(s.Properties) > 0 && s.AdditionalProperties == nil && !open {
		s.AdditionalProperties = &spec.SchemaOrBool{}
	}
	return parts(s, path, closed)
}

func prefix(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimPrefix(path, ".") + ": "
}

// heeded checks what a schema says of itself.
func heeded(s *spec.Schema) error {
	switch {
	case len(s.ExtraProps) > 0:
		return fmt.Errorf("unknown field %q", slices.Min(slices.Collect(maps.Keys(s.ExtraProps))))
	case len(s.Type) > 1 || len(s.Type) == 1 && !slices.Contains(schemaTypes, s.Type[0]):
		return fmt.Errorf("unknown type %q: one of %s", strings.Join(s.Type, ", "), strings.Join(schemaTypes, ", "))
	case s.Ref.String() != "":
		return errors.New("$ref leads nowhere: write the schema in its place")
	case s.Default != nil:
		return errors.New("default is not applied: set the value where it is computed")
	}
	for name := range s.Extensions {
		if name != "x-kubernetes-preserve-unknown-fields" {
			return fmt.Errorf("%s is not enforced: leave it out", name)
		}
	}
	if _, err := regexp.Compile(s.Pattern); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	return nil
}

// parts checks the schemas in a schema.
func parts(s *spec.Schema, path string, closed bool) error {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		one := s.Properties[name]
		if err := strictly(&one, path+"."+name, closed); err != nil {
			return err
		}
		s.Properties[name] = one
	}
	if s.Items != nil && s.Items.Schema != nil {
		if err := strictly(s.Items.Schema, path+"[]", closed); err != nil {
			return err
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		if err := strictly(s.AdditionalProperties.Schema, path+".*", closed); err != nil {
			return err
		}
	}
	for _, list := range [][]spec.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			if err := strictly(&list[i], path, false); err != nil { // its fields are some of those of the schema
				return err
			}
		}
	}
	return nil
}
