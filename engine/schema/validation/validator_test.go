package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const gadgets = `{
	"type": "object",
	"properties": {
		"spec": {
			"type": "object",
			"required": ["size"],
			"x-kubernetes-validations": [{"rule": "!has(self.name) || self.size > 1", "message": "a name needs a size above 1"}],
			"properties": {
				"size": {"type": "integer", "maximum": 10},
				"name": {"type": "string", "minLength": 1, "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "name stays"}]},
				"keys": {"type": "array", "maxItems": 9, "x-kubernetes-list-type": "set", "items": {"type": "string"}},
				"job": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
			}
		},
		"status": {"type": "object", "properties": {"count": {"type": "integer", "maximum": 3}}}
	}
}`

func gadget(spec Object) Object {
	return Object{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": Object{"name": "g"}, "spec": spec}
}

func reporting(spec Object, count int64) Object {
	out := gadget(spec)
	out["status"] = Object{"count": count}
	return out
}

func lines(found field.ErrorList) (out []string) {
	for _, err := range found {
		out = append(out, err.Error())
	}
	return out
}

// TestValidator: test/conformance compares the words with those of a real server. Here is
// what no request to one leads to: objects that it could not have stored.
func TestValidator(t *testing.T) {
	t.Parallel()
	v, err := New([]byte(gadgets))
	if err != nil {
		t.Fatal(err)
	}
	five := gadget(Object{"size": int64(5), "name": "a"})
	for name, tc := range map[string]struct {
		found field.ErrorList
		want  []string
	}{
		"a new one":      {v.Create(five), nil},
		"a broken rule":  {v.Create(gadget(Object{"size": int64(1), "name": "a"})), []string{"spec: Invalid value: a name needs a size above 1"}},
		"equal keys":     {v.Create(gadget(Object{"size": int64(1), "keys": []any{"a", "a"}})), []string{`spec.keys[1]: Duplicate value: "a"`}},
		"no embedded":    {v.Create(gadget(Object{"size": int64(1), "job": Object{}})), []string{"spec.job.apiVersion: Required value", "spec.job.kind: Required value", "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"}},
		"a transition":   {v.Update(five, gadget(Object{"size": int64(5), "name": "b"})), []string{`spec.name: Invalid value: "b": name stays`}},
		"a status":       {v.UpdateStatus(five, reporting(five["spec"].(Object), 4)), []string{"status.count: Invalid value: 4: count in body should be less than or equal to 3"}},
		"the same wrong": {v.Update(gadget(Object{"size": int64(11)}), gadget(Object{"size": int64(11), "keys": []any{"a"}})), nil},
		"another wrong":  {v.Update(gadget(Object{"size": int64(11)}), gadget(Object{"size": int64(12)})), []string{"spec.size: Invalid value: 12: spec.size in body should be less than or equal to 10"}},
		"a missing size": {v.Update(gadget(Object{"keys": []any{"a"}}), gadget(Object{"keys": []any{"b"}})), nil},
		"a status that was wrong": {
			v.UpdateStatus(reporting(Object{"size": int64(1)}, 4), reporting(Object{"size": int64(1)}, 4)), nil,
		},
		"a broken rule of before":             {v.Update(gadget(Object{"size": int64(1), "name": "a"}), gadget(Object{"size": int64(0), "name": "a"})), nil},
		"a transition from what cannot be":    {v.Update(gadget(Object{"size": int64(5), "name": ""}), gadget(Object{"size": int64(5), "name": "a"})), nil},
		"equal keys beside those of before":   {v.Update(gadget(Object{"size": int64(1), "keys": []any{"a", "a"}}), gadget(Object{"size": int64(2), "keys": []any{"a", "a"}})), nil},
		"a status beside a wrong spec":        {v.UpdateStatus(gadget(Object{"size": int64(11)}), reporting(Object{"size": int64(11)}, 3)), nil},
		"a wrong status beside a wrong spec":  {v.UpdateStatus(gadget(Object{"size": int64(11)}), reporting(Object{"size": int64(11)}, 4)), []string{"status.count: Invalid value: 4: count in body should be less than or equal to 3"}},
		"a status whose spec breaks one rule": {v.UpdateStatus(gadget(Object{"size": int64(1), "name": "a"}), reporting(Object{"size": int64(1), "name": "a"}, 3)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, lines(tc.found)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestSchemasThatNoServerAccepts have no validator.
func TestSchemasThatNoServerAccepts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type": "object", "properties": {"spec": {"$ref": "#/definitions/x"}}}`: "$ref",
		`{"type": 1}`: "read the schema",
	} {
		if _, err := New([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}
