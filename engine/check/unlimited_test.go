package check_test

import (
	"strings"
	"testing"
)

// TestNoRemovalLimit: what deletes any number of objects has a limit of its own.
func TestNoRemovalLimit(t *testing.T) {
	t.Parallel()
	const child, limit = "apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${key.name}-${%}', namespace: d}}}]\n", "  limits: {removals: {perWindow: 100}}\n"
	many := "  children: [{name: c, forEach: object.spec.podCIDRs, as: i, " + strings.Replace(child, "%", "i", 1)
	for name, tc := range map[string]struct {
		spec  string
		found bool
	}{
		"children of a list":          {many, true},
		"with a limit":                {limit + many, false},
		"one child":                   {"  children: [{name: c, " + strings.Replace(child, "%", "key.name", 1), false},
		"a deletion":                  {"  rules: [{name: r, do: [{delete: {of: {apiVersion: v1, kind: Pod, namespace: a, name: b}}}]}]\n", true},
		"children without a deletion": {"  rules: [{name: r, do: [{labels: {set: {a: b}}}]}]\n", false},
	} {
		got := strings.Join(findingsWith(t, forNodes+tc.spec), "\n")
		if strings.Contains(got, "error") || strings.Contains(got, "has no limit of removals") != tc.found {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestRulesOfHeld: rules that a policy gets for held conditions and rates, among those that it
// has, are looked at without a place in its text.
func TestRulesOfHeld(t *testing.T) {
	t.Parallel()
	const event = "do: [{event: {reason: R, message: m}}]}\n"
	got := findingsWith(t, strings.Replace(forNodes, "kind: Node", "kind: Pod", 1)+"  rules:\n"+
		"    - {name: a, when: {held: object.metadata.name == key.name, for: 5m}, "+event+
		"    - {name: b, when: {held: object.metadata.name == key.name, for: 6m}, "+event+
		"    - {name: c, rate: {max: 1, per: 1h}, "+event+"    - {name: d, "+event)
	if text := strings.Join(got, "\n"); strings.Contains(text, "policy.yaml") {
		t.Error(text)
	}
}
