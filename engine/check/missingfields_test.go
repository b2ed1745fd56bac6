package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/source"
)

// gadgets are a custom kind with fields that must be there.
const gadgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  names: {kind: Gadget, plural: gadgets}
  scope: Cluster
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          required: [spec, status]
          properties:
            spec:
              type: object
              required: [size, mode]
              properties:
                size: {type: integer}
                mode: {type: string, default: Fast}
                free: {type: string}
                parts: {type: array, items: {type: object, required: [id], properties: {id: {type: string}, note: {type: string}}}}
                byName: {type: object, additionalProperties: {type: object, required: [id], properties: {id: {type: string}, note: {type: string}}}}
            status:
              type: object
              required: [phase]
              properties: {phase: {type: string}, steps: {type: array, items: {type: object, required: [id], properties: {id: {type: string}}}}}
`

// TestMissingFields: what an API server demands is missed where an object or the item of a
// list is written out, not where it is computed or merged.
func TestMissingFields(t *testing.T) {
	t.Parallel()
	rule := func(actions string) string { return "  rules: [{name: r, do: [" + actions + "]}]\n" }
	gadget := func(verb, fields string) string {
		return rule("{" + verb + ": {apiVersion: example.com/v1, kind: Gadget, metadata: {name: '${key.name}'}" + fields + "}}")
	}
	service := func(port string) string {
		return rule("{apply: {apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {ports: [" + port + "]}}}")
	}
	workload := func(container string) string {
		return "  children: [{name: c, apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b}, spec: {selector: {}, template: {spec: {containers: " + container + "}}}}}]\n  rules: []\n"
	}
	job := func(pod string) string {
		return "  children: [{name: c, apply: {apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: b}, spec: {template: {spec: {" + pod + "}}}}}]\n  rules: []\n"
	}
	for name, tc := range map[string]struct{ spec, want string }{
		"a field of an object":            {gadget("create", ", spec: {free: x}"), `Gadget.spec has no "size", without which the API server refuses it (add size: ...)`},
		"of one that is applied":          {gadget("apply", ", spec: {free: x}"), `Gadget.spec has no "size"`},
		"a whole part":                    {gadget("apply", ""), `Gadget has no "spec"`},
		"all that must be there":          {gadget("apply", ", spec: {size: 1}"), ""},
		"what may be none":                {gadget("apply", ", spec: {size: '${optional.of(1)}'}"), ""},
		"a computed key":                  {gadget("apply", ", spec: {'${key.name}': 1}"), ""},
		"a computed part":                 {gadget("apply", ", spec: '${variables.spec}'"), ""},
		"an item":                         {gadget("apply", ", spec: {size: 1, parts: [{id: a}, {note: b}]}"), `Gadget.spec.parts[] has no "id"`},
		"a value of a map":                {gadget("apply", ", spec: {size: 1, byName: {a: {note: b}}}"), `Gadget.spec.byName.a has no "id"`},
		"an object that is taken":         {rule("{ifExists: take, apply: {apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}, spec: {free: x}}}"), ""},
		"a patch":                         {rule("{patch: {of: {apiVersion: example.com/v1, kind: Gadget, name: a}, value: {spec: {free: x, byName: {a: {note: b}}}}}}"), ""},
		"an item of a patch":              {rule("{patch: {of: {apiVersion: example.com/v1, kind: Gadget, name: a}, value: {spec: {parts: [{note: b}]}}}}"), `the object.spec.parts[] has no "id"`},
		"an item of the status":           {rule("{status: {steps: [{}]}}"), `the object.steps[] has no "id"`},
		"the port of a Service":           {service("{name: a}"), `Service.spec.ports[] has no "port"`},
		"a Service":                       {service("{port: 80}"), ""},
		"a container without a name":      {workload("[{image: a}]"), `Deployment.spec.template.spec.containers[] has no "name"`},
		"a container":                     {workload("[{name: a, image: i}]"), ""},
		"computed containers":             {workload("'${variables.containers}'"), ""},
		"what a built-in kind has anyway": {rule("{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}}"), ""},
		"what a schema requires in vain":  {rule("{apply: {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: b}, spec: {}}}"), ""},
		"the Pods of a Job":               {job("containers: [{name: a, image: i}]"), `Job.spec.template.spec has no "restartPolicy", without which the API server refuses it (add restartPolicy: Never or OnFailure)`},
		"Pods that are not restarted":     {job("restartPolicy: Never, containers: [{name: a, image: i}]"), ""},
		"the port in a patch":             {rule("{patch: {of: {apiVersion: v1, kind: Service, namespace: a, name: b}, value: {spec: {ports: [{name: a}]}}}}"), `the object.spec.ports[] has no "port"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(forNodes, "{apiVersion: v1, kind: Node}", "{apiVersion: example.com/v1, kind: Gadget}", 1) +
				"  variables: [{name: spec, value: {free: '${key.name}'}}, {name: containers, value: [{image: '${key.name}'}]}]\n" + tc.spec
			got := strings.Join(findingsBeside(t, text, gadgets), "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// findingsBeside returns what fields are missing in a policy beside a CRD.
func findingsBeside(t *testing.T, text, crd string) (out []string) {
	t.Helper()
	folder := t.TempDir()
	for file, text := range map[string]string{"policy.yaml": text, "schemas/crd.yaml": crd} {
		path := filepath.Join(folder, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := source.Load([]string{folder}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range check.Findings(b) {
		if p.Code == "missing-field" || p.Severity == "error" {
			out = append(out, p.Error())
		}
	}
	return out
}
