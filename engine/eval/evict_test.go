package eval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEvict: a Pod is evicted once, and the rules below see it as one that is going.
func TestEvict(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
  inputs: [{name: pods, apiVersion: v1, kind: Pod}]
  rules:
    - {name: evict, forEach: inputs.pods, as: p, do: [{evict: {of: p, gracePeriod: 5s}}]}
    - {name: again, forEach: inputs.pods, as: p, do: [{evict: {of: p}}, {delete: {of: p}}]}
    - {name: count, do: [{annotations: {set: {going: "${string(inputs.pods.filter(p, has(p.metadata.deletionTimestamp)).size())}"}}}]}
`, "{kind: Widget, metadata: {name: w}}", "{apiVersion: v1, kind: Pod, metadata: {name: a}}", "{apiVersion: v1, kind: Pod, metadata: {name: b, deletionTimestamp: '2026-01-01T00:00:00Z'}}")
	want := []string{`evict: evict a {"gracePeriodSeconds":5}`, `count: patch w {"metadata":{"annotations":{"going":"2"}}}`}
	if d := cmp.Diff(want, told(b.decide(widget, now))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
