package verify

import (
	"os"
	"path/filepath"
	"testing"

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
              required: [steps, unit, size, end]
              properties:
                unit: {type: string, enum: [cm, m]}
                size: {type: integer, minimum: 1}
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

// TestRequired: the world that is made, and what becomes of it, has only objects that the
// API server takes.
func TestRequired(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file(t, filepath.Join(folder, "climb.yaml"), climbing)
	if err := os.Mkdir(filepath.Join(folder, "schemas"), 0o750); err != nil {
		t.Fatal(err)
	}
	file(t, filepath.Join(folder, "schemas", "ladder.yaml"), ladder)
	b, err := source.Load([]string{folder}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	r, err := Run(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Changes: 1})
	if err != nil || r.Finding != nil {
		t.Errorf("found %+v, %v", r.Finding, err)
	}
	if r.Explored.Rests == 0 {
		t.Errorf("nothing comes to rest: %+v", r.Explored)
	}
}
