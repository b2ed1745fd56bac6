package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
)

// queue takes the Widgets that fit, notes all of them on the primary object, and starts
// each.
const queue = `
  inputs: [{name: jobs, apiVersion: example.com/v1, kind: Widget, where: item.metadata.name != key.name}]
  variables:
    - {name: waiting, forEach: inputs.jobs, as: j, when: j.spec.waits}
    - {name: used, expression: "inputs.jobs.filter(j, !j.spec.waits).map(j, int(j.spec.cpu)).sum()"}
  rules:
    - name: start what fits
      do:
        - select:
            candidates: [{as: q, in: variables.waiting}]
            summary: "${total} wait"
            orderBy: [-q.spec.cpu]
            take: {weight: q.spec.cpu, budget: object.spec.cpu - variables.used, skipTooLarge: true}
            together:
              - annotations: {set: {started: "${json.encode(taken.map(t, t.q.metadata.name))}", summary: "${summary}"}}
            then: [{patch: {of: q, value: {spec: {waits: false}}}}]
            otherwise: [{annotations: {set: {idle: "${summary}"}}}]
    - name: see it
      do: [{annotations: {set: {used: "${string(variables.used)}"}}}]
`

func TestTogether(t *testing.T) {
	t.Parallel()
	job := func(name string, cpu int, waits bool) string {
		return fmt.Sprintf("{kind: Widget, metadata: {name: %s}, spec: {cpu: %d, waits: %v}}", name, cpu, waits)
	}
	for name, tc := range map[string]struct {
		cpu  int
		want []string
	}{
		"all win": {9, []string{
			`start what fits, see it: patch w {"metadata":{"annotations":{"started":"[\"b\",\"c\",\"a\"]","summary":"3 wait","used":"8"}}}`,
			`start what fits: patch b {"spec":{"waits":false}}`, `start what fits: patch c {"spec":{"waits":false}}`, `start what fits: patch a {"spec":{"waits":false}}`,
		}},
		"what is too large is skipped": {4, []string{
			`start what fits, see it: patch w {"metadata":{"annotations":{"started":"[\"c\",\"a\"]","summary":"3 wait; 1 excluded: budget","used":"4"}}}`,
			`start what fits: patch c {"spec":{"waits":false}}`, `start what fits: patch a {"spec":{"waits":false}}`,
		}},
		"together knows that nobody wins": {1, []string{
			`start what fits, see it: patch w {"metadata":{"annotations":{"idle":"3 wait; 3 excluded: budget","started":"[]","summary":"3 wait; 3 excluded: budget","used":"1"}}}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, queue, fmt.Sprintf("{kind: Widget, metadata: {name: w}, spec: {cpu: %d, waits: false}}", tc.cpu),
				job("a", 1, true), job("b", 4, true), job("c", 2, true), job("d", 1, false))
			if d := cmp.Diff(tc.want, told(b.decide(widget, now))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestTakeMany takes a thousand of two thousand at once: the work is linear, within the
// limits of one evaluation.
func TestTakeMany(t *testing.T) {
	t.Parallel()
	const candidates, winners = 2000, 1000
	cost := func(candidates, winners int) uint64 {
		b := newBench(t, queue, fmt.Sprintf("{kind: Widget, metadata: {name: w}, spec: {cpu: %d, waits: false}}", winners))
		for i := range candidates {
			b.put(fmt.Sprintf("{kind: Widget, metadata: {name: j%04d}, spec: {cpu: 1, waits: true}}", i))
		}
		d := b.decide(widget, now)
		if len(d.Problems) > 0 {
			t.Fatal(d.Problems[0].Err)
		}
		started := 0
		for _, e := range d.Effects {
			if strings.HasPrefix(e.Target.Name(), "j") && value.IsTrue(value.Path(e.Patch, "spec", "waits").Equal(value.OfBool(false))) {
				started++
			}
		}
		if started != winners {
			t.Errorf("%d of %d are started, want %d", started, candidates, winners)
		}
		return d.Cost
	}
	half, whole := cost(candidates/2, winners/2), cost(candidates, winners)
	if whole > 3*half || whole > 25_000_000/4 {
		t.Errorf("%d candidates cost %d, %d cost %d: not linear, or too much", candidates/2, half, candidates, whole)
	}
}
