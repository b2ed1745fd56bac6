package apiserver

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/schema"
)

const gadgets = `
kind: CustomResourceDefinition
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
    - name: v1
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              properties:
                size: {type: integer, format: int32, minimum: 1, maximum: 10}
                code: {type: string, pattern: '^[a-z]+$', maxLength: 4}
                mode: {type: string, enum: [Fast, Slow]}
                at: {type: string, format: date-time}
                port: {x-kubernetes-int-or-string: true}
                note: {type: string, format: unheard-of}
                names: {type: array, maxItems: 2, items: {type: string, minLength: 2}}
                more: {type: object, additionalProperties: {type: integer, maximum: 5}}
                free: {type: string, nullable: true}
            status:
              type: object
              properties: {count: {type: integer, maximum: 3}}
`

func gadgetServer(t *testing.T) *Server {
	t.Helper()
	set := schema.NewSet(schema.Builtin())
	if err := set.AddCRD([]byte(gadgets)); err != nil {
		t.Fatal(err)
	}
	return New(set, func() time.Time { return start })
}

func gadget(spec Object) Object {
	if _, has := spec["size"]; !has {
		spec["size"] = int64(1)
	}
	return Object{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": Object{"namespace": "ns", "name": "g"}, "spec": spec}
}

// TestCustomKindsAreValidated by their schemas, in the words of kube-apiserver.
func TestCustomKindsAreValidated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec Object
		want string
	}{
		"what is allowed": {Object{"size": int64(10), "code": "abcd", "mode": "Fast", "at": "2026-03-01T12:00:00Z", "port": int64(80), "note": "x", "names": []any{"ab"}, "more": Object{"a": int64(5)}}, ""},
		"a port by name":  {Object{"port": "http"}, ""},
		"null":            {Object{"free": nil}, ""},
		"too much":        {Object{"size": int64(11)}, "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10"},
		"too little":      {Object{"size": int64(0)}, "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"},
		"a pattern":       {Object{"code": "A"}, `spec.code: Invalid value: "A": spec.code in body should match '^[a-z]+$'`},
		"too long":        {Object{"code": "abcde"}, "spec.code: Too long: may not be more than 4 bytes"},
		"another word":    {Object{"mode": "Fas"}, `spec.mode: Unsupported value: "Fas": supported values: "Fast", "Slow"`},
		"no time":         {Object{"at": "noon"}, `spec.at: Invalid value: "noon": spec.at in body must be of type date-time: "noon"`},
		"no port":         {Object{"port": true}, `spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"`},
		"too many":        {Object{"names": []any{"ab", "cd", "ef"}}, "spec.names: Too many: 3: must have at most 2 items"},
		"an item":         {Object{"names": []any{"a"}}, `spec.names[0]: Invalid value: "a": spec.names[0] in body should be at least 2 chars long`},
		"a value":         {Object{"more": Object{"a": int64(6)}}, "spec.more.a: Invalid value: 6: spec.more.a in body should be less than or equal to 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := gadget(tc.spec)
			for verb, write := range map[string]func(*Server) error{
				"create": func(s *Server) error { _, err := s.Create(made, Options{}); return err },
				"apply":  func(s *Server) error { _, err := s.Apply(ID(made), made, Options{Manager: "m"}); return err },
				"patch": func(s *Server) error {
					s.Load(gadget(Object{}))
					_, err := s.Patch(ID(made), Object{"spec": tc.spec}, Options{})
					return err
				},
			} {
				switch err := write(gadgetServer(t)); {
				case tc.want == "" && err != nil:
					t.Errorf("%s: %v", verb, err)
				case tc.want != "" && (!apierrors.IsInvalid(err) || !strings.HasSuffix(err.Error(), `Gadget.example.com "g" is invalid: `+tc.want)):
					t.Errorf("%s: %v, want %s", verb, err, tc.want)
				}
			}
		})
	}
}

// TestWhatIsWrongMayStay: a write is refused for what it makes wrong only.
func TestWhatIsWrongMayStay(t *testing.T) {
	t.Parallel()
	s := gadgetServer(t)
	old := gadget(Object{"size": int64(11)})
	s.Load(old)
	for _, step := range []struct {
		subresource string
		body        Object
		refused     bool
	}{
		{"", Object{"spec": Object{"code": "a"}}, false},
		{"status", Object{"status": Object{"count": int64(3)}}, false},
		{"status", Object{"status": Object{"count": int64(4)}}, true},
		{"", Object{"spec": Object{"size": int64(12)}}, true},
		{"", Object{"spec": Object{"size": int64(2)}}, false},
		{"", Object{"spec": Object{"size": int64(11)}}, true},
	} {
		_, err := s.Patch(ID(old), step.body, Options{Subresource: step.subresource})
		if apierrors.IsInvalid(err) != step.refused {
			t.Errorf("%v: %v", step.body, err)
		}
	}
}
