package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
