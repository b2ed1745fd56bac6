package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

const ladder = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ladders.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Ladder, plural: ladders}
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              required: [steps, unit, size, end, tolerance]
              properties:
                unit: {type: string, enum: [cm, m]}
                size: {type: integer, minimum: 1}
                angle: {type: integer, minimum: 30, maximum: 75, multipleOf: 5}
                weight: {type: integer, exclusiveMinimum: true, minimum: 9}
                tolerance: {type: number, minimum: 1.5}
                mark: {type: string, pattern: "^[A-Z0-9]+$"}
                serial: {type: string, minLength: 8}
                code: {type: string, pattern: "^x-[0-9]{4}$"}
                end: {type: object, required: [name], properties: {name: {type: string}}}
                steps: {type: array, minItems: 1, items: {type: object, required: [at], properties: {at: {type: integer}}}}
`

const climbing = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: climb}
spec:
  for: {apiVersion: example.com/v1, kind: Ladder}
  rules:
    - name: mark
      do: [{labels: {set: {at: "${string(object.spec.steps[0].at)}-${object.spec.end.name}-${object.spec.unit}-${string(100 / object.spec.size)}"}}}]
`

// withCRDs returns a folder with a policy and the CRDs of its kinds.
func withCRDs(t *testing.T, policy string, crds ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	schemas := filepath.Join(folder, "schemas")
	if err := os.Mkdir(schemas, 0o750); err != nil {
		t.Fatal(err)
	}
	file(t, filepath.Join(folder, "policy.yaml"), policy)
	file(t, filepath.Join(schemas, "crds.yaml"), strings.Join(crds, "---\n"))
	return folder
}

// TestRequired: the world that is made, and what becomes of it, has only objects that the
// API server takes.
func TestRequired(t *testing.T) {
	t.Parallel()
	b, err := source.Load([]string{withCRDs(t, climbing, ladder)}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	r, err := Run(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Changes: 1})
	if err != nil || len(r.Findings) > 0 {
		t.Errorf("found %+v, %v", r.Findings, err)
	}
	if r.Explored.Rests == 0 {
		t.Errorf("nothing comes to rest: %+v", r.Explored)
	}
}

const leaning = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: lean}
spec:
  for: {apiVersion: example.com/v1, kind: Ladder}
  variables: [{name: steep, expression: 'object.spec.?angle.orValue(30) > 70'}]
  rules:
    - name: mark
      when: variables.steep || object.spec.?weight.orValue(10) > 10 || object.spec.?tolerance.orValue(1.5) > 2.0
      do: [{labels: {set: {at: '${object.spec.?mark.orValue("")}-${object.spec.?serial.orValue("")}-${object.spec.?code.orValue("")}'}}}]
`

// TestMadeWithinLimits: the objects of a world that is made have values that their schemas
// allow, and no field for which none is known.
func TestMadeWithinLimits(t *testing.T) {
	t.Parallel()
	b, err := source.Load([]string{withCRDs(t, leaning, ladder)}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	w, err := worldOf(&Options{Policies: b.Policies, Schemas: b.Schemas})
	if err != nil || len(w.objects) == 0 {
		t.Fatal(err)
	}
	for _, o := range w.objects {
		spec, _ := o["spec"].(simulate.Object)
		kind, _ := b.Schemas.Kind(schema.GVK{APIVersion: "example.com/v1", Kind: "Ladder"})
		for name, v := range spec {
			if reason, allowed := kind.Field("spec").Field(name).Refused(v); reason != "" {
				t.Errorf("%s: %s, %s", name, reason, allowed)
			}
		}
		for name, there := range map[string]bool{"angle": true, "weight": true, "tolerance": true, "mark": true, "serial": true, "code": false} {
			if _, ok := spec[name]; ok != there {
				t.Errorf("%s is there: %v, want %v: %v", name, ok, there, spec)
			}
		}
	}
}

const settledName = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: owned}
spec:
  for: {apiVersion: example.com/v1, kind: Ladder}
  children:
    - name: web
      apply:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {namespace: x, name: "${key.name}-web"}
        spec: {selector: {matchLabels: {app: "${key.name}"}}, template: {metadata: {labels: {app: "${key.name}"}}, spec: {containers: [{name: c, image: i}]}}}
    - name: rail
      apply:
        apiVersion: example.com/v1
        kind: Rail
        metadata: {name: "${key.name}-rail"}
        spec: {side: left, height: "${object.spec.size}"}
---
apiVersion: edict.dev/v1alpha1
kind: Allowances
metadata: {name: owned}
spec: {allow: [{policy: owned, kind: Deployment, fields: [delete]}, {policy: owned, kind: Rail, fields: [delete]}]}
`

const rail = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rails.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Rail, plural: rails}
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              x-kubernetes-validations: [{rule: "has(self.side) == has(oldSelf.side)", message: side is set once}]
              properties:
                side: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: side is set once}]}
                height: {type: integer}
`

// TestImmutable: nobody changes from outside what the API server lets nobody change, of a
// built-in kind or of one with a rule. Otherwise the write that restores it is refused, and
// each policy with such a child has a finding that cannot come about.
func TestImmutable(t *testing.T) {
	t.Parallel()
	r := explored(t, withCRDs(t, settledName, ladder, rail), []string{"apiVersion: example.com/v1\nkind: Ladder\nmetadata: {name: a}\nspec: {steps: [{at: 1}], unit: m, size: 1, end: {name: b}}\n"}, 1)
	if len(r.Findings) > 0 {
		t.Errorf("found %+v", r.Findings)
	}
	if r.Explored.Changes == 0 || r.Explored.Rests == 0 {
		t.Errorf("nothing changes or comes to rest: %+v", r.Explored)
	}
}

const imaged = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: imaged}
spec:
  for: {apiVersion: apps/v1, kind: Deployment}
  rules:
    - name: mark
      do: [{annotations: {set: {
          images: '${object.spec.template.spec.containers.map(c, c.image).join()}', app: '${object.spec.selector.?matchLabels[?"app"].orValue("-")}',
          how: '${object.spec.strategy.type}'}}}]
`

// TestMadeBuiltinKinds: an object of a built-in kind that is made has the fields that check
// takes for present, so that nothing is found that cannot come about.
func TestMadeBuiltinKinds(t *testing.T) {
	t.Parallel()
	if r := explored(t, withCRDs(t, imaged), []string{}, 1); len(r.Findings) > 0 || r.Explored.Changes == 0 || r.Explored.Rests == 0 {
		t.Errorf("found %+v, explored %+v", r.Findings, r.Explored)
	}
}
