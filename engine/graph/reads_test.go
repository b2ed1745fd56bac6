package graph_test

import (
	"strings"
	"testing"
)

// TestReads: fields pass through collections, whatever becomes of their values; an object that
// is handed on as a whole, or only counted, is named so.
func TestReads(t *testing.T) {
	t.Parallel()
	const grouped = "    - {name: finished, forEach: inputs.jobs, as: j, groupBy: 'j.metadata.?labels[?\"app\"].orValue(\"none\")'}\n"
	for name, tc := range map[string]struct{ variables, used, want string }{
		"mapped":           {grouped + "    - {name: due, expression: 'variables.finished.map(g, variables.finished[g]).flatten()'}\n", "variables.due.filter(j, has(j.metadata.deletionTimestamp))", "metadata.deletionTimestamp, metadata.labels.app"},
		"collected":        {grouped + "    - {name: s, forEach: 'variables.finished.map(g, g)', as: g, value: '${variables.finished[g]}'}\n    - {name: due, expression: variables.s.flatten()}\n", "variables.due.filter(j, has(j.metadata.deletionTimestamp))", "metadata.deletionTimestamp, metadata.labels.app"},
		"a field of each":  {"    - {name: due, forEach: inputs.jobs, as: j, value: '${j.spec}'}\n", "variables.due.filter(s, s.?suspend.orValue(false))", "spec.suspend"},
		"only their count": {"    - {name: due, expression: inputs.jobs}\n", "variables.due", "(only that it exists)"},
		"a whole object":   {"    - {name: due, expression: 'inputs.jobs.map(j, json.encode(j))'}\n", "variables.due.filter(j, j == \"\")", "(all of it)"},
	} {
		text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Namespace}\n  inputs: [{name: jobs, apiVersion: batch/v1, kind: Job}]\n  variables:\n" +
			tc.variables + "  rules: [{name: count, do: [{labels: {set: {n: '${string(size(" + tc.used + "))}'}}}]}]\n"
		got := of(t, file(t, text)).Text()
		if !strings.Contains(got, "Job\n  read by p: "+tc.want+"\n") {
			t.Errorf("%s: want %q in\n%s", name, tc.want, got)
		}
	}
}
