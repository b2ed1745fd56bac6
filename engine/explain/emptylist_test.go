package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/explain"
	"github.com/edict-dev/edict/engine/record"
)

const listing = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: wait}
spec:
  for: {apiVersion: v1, kind: Pod}
  rules:
    - {name: r, %s, do: [{log: {message: a}}]}
`

// TestNoItems: a rule without an item to run for has not fired, and the sentence says
// whether that is for its condition or for its list.
func TestNoItems(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ rule, outcome, sentence string }{
		"an item":          {"forEach: '[1]', as: x", record.OutcomeFired, `the rule "r" applies`},
		"none":             {"forEach: '[1].filter(y, y > 1)', as: x", record.OutcomeSkipped, `the list of the rule "r" is empty`},
		"none, may run":    {"when: 'size(object.metadata.name) > 0', forEach: '[1].filter(y, y > 1)', as: x", record.OutcomeSkipped, `the list of the rule "r" is empty`},
		"none, may not":    {"when: 'size(object.metadata.name) < 0', forEach: '[1].filter(y, y > 1)', as: x", record.OutcomeSkipped, "`size(object.metadata.name) < 0` is false"},
		"none that is one": {"when: x > 1, forEach: '[1]', as: x", record.OutcomeSkipped, `no item of the rule "r" matches`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := delayedAt(t, fmt.Sprintf(listing, tc.rule))
			if got := explain.Sentence("Pod", d); d.Rules[0].Outcome != tc.outcome || !strings.Contains(got, tc.sentence) {
				t.Errorf("%s, want %s: %s", d.Rules[0].Outcome, tc.outcome, got)
			}
		})
	}
}
