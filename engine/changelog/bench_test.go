package changelog_test

import (
	"testing"

	"github.com/edict-dev/edict/engine/changelog"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/fixture"
)

// conditions has conditions of several parts.
const conditions = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mark}
spec:
  for: {apiVersion: v1, kind: Node}
  inputs: [{name: pods, apiVersion: v1, kind: Pod, where: 'item.?spec.nodeName.orValue("") == key.name'}]
  rules:
    - name: mark
      when: '!object.?spec.unschedulable.orValue(false) && object.metadata.name != "z" && (size(inputs.pods) == 0 || object.metadata.name.startsWith("n"))'
      do: [{labels: {set: {mark: "yes"}}}]
    - name: other
      when: 'object.metadata.name == "z" || size(inputs.pods) > 3'
      do: [{labels: {set: {other: "yes"}}}]
`

// decided returns the record of a decision that writes.
func decided(t testing.TB) *record.Record {
	t.Helper()
	sim := fixture.Simulation(t, fixture.Compiled(t, conditions), []simulate.Object{fixture.Object("v1", "Node", "", "node-a")}, nil)
	c := sim.Controller("mark")
	return c.Reconcile(t.Context(), c.Keys()[0], sim.Now()).Record
}

// BenchmarkLines is what the change log adds to a decision that writes.
func BenchmarkLines(b *testing.B) {
	r := decided(b)
	b.ReportAllocs()
	for b.Loop() {
		if lines := changelog.Lines(b.Context(), r); len(lines) != 1 {
			b.Fatal(len(lines))
		}
	}
}

// TestLinesAllocates: a line costs no compilation, which took 5,000 allocations.
func TestLinesAllocates(t *testing.T) {
	r := decided(t)
	const most = 400
	if got := testing.AllocsPerRun(20, func() { changelog.Lines(t.Context(), r) }); got > most {
		t.Errorf("%v allocations, at most %v", got, most)
	}
}
