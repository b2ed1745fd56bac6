package changelog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/edict-dev/edict/engine/changelog"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/fixture"
)

const policy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mark}
spec:
  for: {apiVersion: v1, kind: Node}
  inputs: [{name: secrets, apiVersion: v1, kind: Secret}]
  variables: [{name: sum, expression: 'inputs.secrets.map(s, s.?data.key.orValue("")).join()'}]
  rules:
    - name: mark
      when: '!object.?spec.unschedulable.orValue(false) && object.metadata.name != "z"'
      do: [{labels: {set: {mark: "yes"}}}, {annotations: {set: {sum: "${variables.sum}"}}}]
`

// TestWriter: a line for each write, written beside the evaluations that go on, and no
// value of a Secret.
func TestWriter(t *testing.T) {
	defer goleak.VerifyNone(t)
	objects := []simulate.Object{{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "n"}, "data": map[string]any{"key": "c2VjcmV0"}}}
	const nodes = 50
	for n := range nodes {
		objects = append(objects, fixture.Object("v1", "Node", "", fmt.Sprint("node-", n)))
	}
	var out bytes.Buffer
	w := changelog.New(&out, slog.New(slog.DiscardHandler))
	sim := fixture.Simulation(t, fixture.Compiled(t, policy), objects, &record.Log{Prefix: "p-", Seen: w.Add})
	sim.Settle(t.Context())
	w.Close()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != nodes {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	var line changelog.Line
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	if line.ID == "" || line.Policy != "mark" || line.Rule != "mark" || line.Verb != "patch" || line.Target.Name != "node-0" || line.Result != "written" ||
		len(line.WokenBy) == 0 || len(line.Reads) != 2 {
		t.Errorf("%s", lines[0])
	}
	if strings.Contains(out.String(), "c2VjcmV0") {
		t.Error("the value of a Secret is in the log")
	}
}
