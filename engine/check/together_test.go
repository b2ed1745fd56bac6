package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestOneObjectOfTwoPolicies: what is said of the objects that two policies apply agrees
// with what a simulation comes to.
func TestOneObjectOfTwoPolicies(t *testing.T) {
	t.Parallel()
	policy := func(policy, more, child string) string {
		return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + policy + "}\nspec:\n  for: {apiVersion: v1, kind: Service" + more + "}\n" + child + "---\n"
	}
	child := func(name, more string) string {
		return "  children:\n    - {name: c, ifExists: take" + more + ", apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"" + name + "\"}, data: {x: a}}}\n"
	}
	rule := func(name, data string) string {
		return "  rules:\n    - {name: r, do: [{ifExists: take, apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: \"${key.namespace}\", name: \"" + name + "\"}, data: {x: \"" + data + "\"}}}]}\n"
	}
	const list = `, forEach: 'object.spec.ports.map(p, p.name)', as: port`
	for name, tc := range map[string]struct {
		text  string
		found bool
	}{
		"one name":            {policy("a", "", child("${key.name}", "")) + policy("b", "", child("${key.name}", "")), true},
		"one name, otherwise": {policy("a", "", child("x-${key.name}", "")) + policy("b", "", child("x-${object.metadata.name}", "")), true},
		"a child and a rule":  {policy("a", "", child("${key.name}", "")) + policy("b", "", rule("${key.name}", "b")), true},
		"rules":               {policy("a", "", rule("${key.name}", "a")) + policy("b", "", rule("${key.name}", "b")), true},

		"other names":       {policy("a", "", child("${key.name}-a", "")) + policy("b", "", child("${key.name}-b", "")), false},
		"other selectors":   {policy("a", ", selector: x=a", child("${key.name}", "")) + policy("b", ", selector: x=b", child("${key.name}", "")), false},
		"other namespaces":  {policy("a", ", namespaces: [m]", child("${key.name}", "")) + policy("b", ", namespaces: [n]", child("${key.name}", "")), false},
		"names of an item":  {policy("a", "", child("${key.name}-${port}", list)) + policy("b", "", child("b-${key.name}-${port}", list)), false},
		"the same by rules": {policy("a", "", rule("${key.name}", "a")) + policy("b", "", rule("${key.name}", "a")), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fixture.Compiled(t, tc.text)
			found := slices.ContainsFunc(check.Findings(b), func(p document.Problem) bool { return p.Code == document.ConflictingWriters })
			manifests := []string{}
			for _, namespace := range []string{"m", "n"} {
				for _, label := range []string{"a", "b"} {
					manifests = append(manifests, "{apiVersion: v1, kind: Service, metadata: {namespace: "+namespace+", name: "+strings.Repeat(label, 2)+", labels: {x: "+label+"}}, spec: {ports: [{name: p, port: 1}]}}")
				}
			}
			errors := settled(t, b, manifests).Result().Errors
			if found != tc.found || found == (len(errors) == 0) {
				t.Errorf("found: %v, want %v; errors %v", found, tc.found, errors)
			}
		})
	}
}

// settled returns a simulation of objects that has come to rest, or has ended because of
// what was written: far more than policies that do come to rest write.
func settled(t *testing.T, b *source.Bundle, manifests []string) *simulate.Simulation {
	t.Helper()
	sim := simulate.New(t.Context(), simulate.Options{
		Policies: b.Policies, Schemas: b.Schemas, Objects: fixture.Objects(t, manifests...), Guard: guard.New(b.Allowances).Assuming(), Start: fixture.Start, MaxKept: 256 << 10,
	})
	sim.Settle(t.Context())
	return sim
}
