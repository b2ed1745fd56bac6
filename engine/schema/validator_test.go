package schema

import (
	"strings"
	"testing"
)

// TestSchemasThatNobodyHeeds: what a schema says and nobody heeds is refused.
func TestSchemasThatNobodyHeeds(t *testing.T) {
	t.Parallel()
	in := func(s any) any {
		return map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "array", "items": s}}}
	}
	for name, test := range map[string]struct {
		schema any
		want   string
	}{
		"no mapping":            {"integer", "a schema is a mapping"},
		"nothing":               {nil, "a schema is a mapping"},
		"a typo":                {map[string]any{"typ": "integer"}, `unknown field "typ"`},
		"a typo inside":         {in(map[string]any{"minimun": int64(1)}), `a[]: unknown field "minimun"`},
		"a type of Go":          {in(map[string]any{"type": "int"}), `a[]: unknown type "int": one of object, array, string, integer, number, boolean`},
		"two types":             {map[string]any{"type": []any{"string", "integer"}}, `unknown type "string, integer"`},
		"a reference":           {map[string]any{"$ref": "#/components/schemas/x"}, "$ref leads nowhere"},
		"a default":             {map[string]any{"type": "integer", "default": int64(3)}, "default is not applied"},
		"a bad pattern":         {map[string]any{"type": "string", "pattern": "["}, "pattern: error parsing regexp"},
		"a typo in an oneOf":    {map[string]any{"oneOf": []any{map[string]any{"typ": "integer"}}}, `unknown field "typ"`},
		"in what may be more":   {map[string]any{"type": "object", "additionalProperties": map[string]any{"typ": "x"}}, `*: unknown field "typ"`},
		"a number for a text":   {map[string]any{"pattern": int64(1)}, "unmarshal JSON number into Go string"},
		"a typo below an oneOf": {map[string]any{"oneOf": []any{in(map[string]any{"typ": "integer"})}}, `a[]: unknown field "typ"`},
		"rules in CEL":          {in(map[string]any{"type": "integer", "x-kubernetes-validations": []any{map[string]any{"rule": "self > 0"}}}), "a[]: x-kubernetes-validations is not enforced"},
		"an extension":          {map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "description": "d"}, ""},
	} {
		_, err := NewValidator("r", test.schema)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestValidatorOfReferences: a published kind whose schema is only a reference, as an
// aggregated API server may publish it, has no validator.
func TestValidatorOfReferences(t *testing.T) {
	t.Parallel()
	s := NewSet(nil)
	if err := s.AddOpenAPI([]byte(`{"components": {"schemas": {
		"Hall": {"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Hall"}], "allOf": [{"$ref": "#/components/schemas/Base"}]},
		"Base": {"type": "object", "properties": {"metadata": {"type": "object"}, "status": {"type": "object"}}}
	}}}`)); err != nil {
		t.Fatal(err)
	}
	structure, ok := s.Structure(GVK{APIVersion: "example.com/v1", Kind: "Hall"})
	if !ok || structure.Validator() != nil {
		t.Errorf("it has the validator %v", structure.Validator())
	}
}
