package explore

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/explore"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// examples is the world of examples/storage, with a Node that has not been ready for
// five minutes, and with an older revision of the policies.
func examples(t *testing.T) *explore.World {
	t.Helper()
	const folder = "examples/storage"
	file := simulate.AnswersIn(folder)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := simulate.ParseAnswers(text)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := simulate.ReadObjects(folder, file)
	if err != nil {
		t.Fatal(err)
	}
	failing(t, objects, "node-c2")
	bundle := loaded(t, "policies")
	return explore.New(explore.Options{
		Bundle: bundle, Against: older(t), Objects: objects, Start: start, Answers: answers, Guard: guard.New(bundle.Allowances).Assuming(), Origin: folder,
	})
}

// failing makes a Node one that is not ready.
func failing(t *testing.T, objects []simulate.Object, name string) {
	t.Helper()
	for _, o := range objects {
		if id := simulate.ID(o); id.Kind() == "Node" && id.Name() == name {
			status, _ := o["status"].(map[string]any)
			status["conditions"] = []any{map[string]any{"type": "Ready", "status": "False", "lastTransitionTime": "2026-03-01T11:55:00Z"}}
			return
		}
	}
	t.Fatalf("there is no Node %s", name)
}

func loaded(t *testing.T, path string) *source.Bundle {
	t.Helper()
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	return b
}

// older returns the policies with a text that one of them does not have any more.
func older(t *testing.T) *source.Bundle {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "policies")
	if err := os.CopyFS(folder, os.DirFS("policies")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "storage-pool-eligibility.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "Eligible nodes calculated successfully: ", "Calculated: ", 1)
	if edited == string(text) {
		t.Fatal("the policy has another text")
	}
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	return loaded(t, folder)
}

// candidates is how many the policy chooses from.
const candidates = 5000

// many is a world in which a decision has many candidates.
func many(t *testing.T) *explore.World {
	t.Helper()
	const policy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: place}
spec:
  for: {apiVersion: v1, kind: Pod}
  inputs: [{name: nodes, apiVersion: v1, kind: Node}]
  rules:
    - name: choose
      do:
        - select:
            candidates: [{as: node, in: inputs.nodes, orderBy: [node.metadata.name]}]
            summary: "${total} nodes"
            pipeline:
              - {filter: cordoned, keep: '!node.?spec.unschedulable.orValue(false)'}
              - {score: rank, points: 'int(node.metadata.labels.rank)'}
            then: [{annotations: {set: {node: "${node.metadata.name}"}}}]
`
	b := fixture.Compiled(t, policy)
	objects := []simulate.Object{{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "east"}}}
	for i := range candidates {
		objects = append(objects, simulate.Object{
			"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": fmt.Sprintf("node-%04d", i), "labels": map[string]any{"rank": fmt.Sprint(i % 100)}},
			"spec": map[string]any{"unschedulable": i%10 == 0},
		})
	}
	return explore.New(explore.Options{Bundle: b, Objects: objects, Start: start, Guard: guard.New(nil).Assuming(), Origin: "generated"})
}

// served serves a world, and returns the address of the page.
func served(t *testing.T, w *explore.World) string {
	t.Helper()
	token := explore.Token()
	server := httptest.NewServer(w.Handler(token))
	t.Cleanup(server.Close)
	return server.URL + "/" + token + "/"
}
