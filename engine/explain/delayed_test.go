package explain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/test/fixture"
)

const waiting = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: wait}
spec:
  for: {apiVersion: v1, kind: Pod}
  rules:
    %s
    - name: late
      when: object.metadata.name %s
      debounce: {key: "k-${object.metadata.namespace}", window: 1h, allowed: [{days: [Sat], from: "22:00", to: "23:00"}]}
      do: [{annotations: {set: {late: x}}}]
`

// TestDelayed: a rule that waits is neither skipped nor applied, whatever else the
// decision does, and the texts say until when it waits.
func TestDelayed(t *testing.T) {
	t.Parallel()
	const waits = "the rule \"late\" waits until DUE because of its debounce, key \"k-east\", and is to run because `object.metadata.name != \"\"` is true"
	for name, tc := range map[string]struct{ other, when, outcome, sentence, writes string }{
		"alone":        {"", `!= ""`, record.OutcomeDelayed, "east/p: " + waits, "none, because a rule waits"},
		"beside one":   {"- {name: now, do: [{labels: {set: {a: b}}}]}", `!= ""`, record.OutcomeDelayed, "the rule \"now\" applies, and patches Pod p; " + waits, ""},
		"with nothing": {"- {name: now, do: [{log: {message: a}}]}", `!= ""`, record.OutcomeDelayed, "east/p: " + waits, "none, because a rule waits"},
		"and failure":  {"- {name: now, continueOnError: true, do: [{fail: \"no\"}]}", `!= ""`, record.OutcomeDelayed, ": no; " + waits, "none, because of the failure"},
		"skipped":      {"", `== ""`, record.OutcomeSkipped, "east/p: no rule applies because `object.metadata.name == \"\"` is false", "none, nothing has to change"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := delayedAt(t, fmt.Sprintf(waiting, tc.other, tc.when))
			late := &d.Rules[len(d.Rules)-1]
			due := d.At.AddDate(0, 0, (6-int(d.At.Weekday())+7)%7).Truncate(24 * time.Hour).Add(22 * time.Hour)
			if late.Delayed != nil {
				if diff := cmp.Diff(&record.DelayDocument{Key: "k-east", Due: due}, late.Delayed); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			var out strings.Builder
			if err := explain.Text(&out, "Pod", d); err != nil || late.Outcome != tc.outcome {
				t.Fatalf("%v, the rule is %s", err, late.Outcome)
			}
			for _, want := range []string{strings.ReplaceAll(tc.sentence, "DUE", due.Format(time.RFC3339)), "\nWrites", tc.writes} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("want %q in\n%s", want, out.String())
				}
			}
		})
	}
}

// delayedAt returns what a policy decides about an object.
func delayedAt(t *testing.T, policy string) *record.Document {
	t.Helper()
	b := fixture.Compiled(t, policy)
	sim := fixture.Simulation(t, b, fixture.Objects(t, acted), &record.Log{Size: 10, Prefix: "r"})
	return sim.Controller("wait").Reconcile(t.Context(), eval.Key{Namespace: "east", Name: "p"}, sim.Now()).Record.Render(t.Context())
}
