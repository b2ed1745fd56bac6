package simulate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

const draining = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  inputs: [{name: pods, apiVersion: v1, kind: Pod}]
  rules:
    - {name: evict, forEach: inputs.pods, as: p, do: [{evict: {of: p}}, {labels: {of: p, set: {evicted: "yes"}}}]}
    - {name: mark, do: [{labels: {set: {seen: "yes"}}}]}
`

const drained = `
{apiVersion: v1, kind: Node, metadata: {name: n}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: x, labels: {app: a}}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: x}, spec: {selector: {}}, status: {observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 1, currentHealthy: 1}}
`

// drainSimulation returns a simulation of a policy that may evict Pods.
func drainSimulation(t *testing.T, log *record.Log) *simulate.Simulation {
	t.Helper()
	b := fixture.Compiled(t, draining)
	var err error
	if b.Allowances, err = source.LoadAllowances(nil, []string{"{policy: p, kind: Pod, fields: [evict]}"}); err != nil {
		t.Fatal(err)
	}
	return fixture.Simulation(t, b, fixture.Objects(t, drained), log)
}

// TestRefusedEviction: it is no error, the rest of its item is not written, later rules
// are, and the record says what refused it.
func TestRefusedEviction(t *testing.T) {
	t.Parallel()
	sim := drainSimulation(t, &record.Log{Size: 10, Prefix: "r"})
	got := sim.Controller("p").Reconcile(t.Context(), eval.Key{Name: "n"}, sim.Now())
	if got.Err == nil || !got.Quiet || got.Final != nil {
		t.Errorf("the key is not tried again quietly: %v, %v", got.Err, got.Final)
	}
	var results []string
	effects := got.Record.Render(t.Context()).Effects
	for i := range effects {
		results = append(results, effects[i].Verb+" "+effects[i].Target.Name+" "+effects[i].Result)
	}
	want := []string{"evict a refused", "patch a skipped", "patch n written"}
	if len(results) != 3 || results[0] != want[0] || results[1] != want[1] || results[2] != want[2] {
		t.Errorf("got %q, want %q", results, want)
	}
	if len(effects) > 0 && effects[0].Error != "Cannot evict pod as it would violate the pod's disruption budget: The disruption budget b needs 1 healthy pods and has 1 currently" {
		t.Errorf("the record says %q", effects[0].Error)
	}
}

// TestRefusedEvictionInResult: the result has it once, whatever the number of tries.
func TestRefusedEvictionInResult(t *testing.T) {
	t.Parallel()
	sim := drainSimulation(t, nil)
	sim.Run(t.Context(), nil, time.Minute)
	got := sim.Shown(false).Refused
	if len(got) != 1 || got[0].Rule != "evict" || got[0].Target.Name != "a" || !strings.Contains(got[0].Message, "The disruption budget b needs 1 healthy pods") {
		t.Errorf("%+v", got)
	}
}
