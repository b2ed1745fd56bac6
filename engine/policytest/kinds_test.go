package policytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesOfKinds: what a test names is a policy, or the document of several.
func TestNamesOfKinds(t *testing.T) {
	t.Parallel()
	const policy = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {kinds: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Node}]}
  rules: [{name: r, do: [{labels: {set: {a: "${string(memory.get('n').orValue(0))}"}}}]}]
`
	const test = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [p.yaml]
  objects: [{apiVersion: v1, kind: Node, metadata: {name: x}}]
`
	for name, tc := range map[string]struct{ text, want string }{ // "" passes
		"what one remembers":     {"  remembered: {p-node: {x: {n: 3}}}\n  cases: [{name: c, expect: {objects: [{apiVersion: v1, kind: Node, metadata: {name: x, labels: {a: '3'}}}]}}]\n", ""},
		"what all remember":      {"  remembered: {p: {x: {n: 3}}}\n  cases: [{name: c}]\n", "7:15: p is a policy for each of several kinds: name one of p-node, p-pod"},
		"only one":               {"  only: [p-pod]\n  cases: [{name: c, expect: {effects: []}}]\n", ""},
		"only the document":      {"  only: [p]\n  cases: [{name: c, expect: {effects: [{policy: p}]}}]\n", ""},
		"none of the name":       {"  only: [p-job]\n  cases: [{name: c}]\n", `there is no policy "p-job"`},
		"the effect of one":      {"  cases: [{name: c, expect: {effects: [{policy: p-node}]}}]\n", ""},
		"the effect of no other": {"  cases: [{name: c, expect: {effects: [{policy: p-pod}]}}]\n", `policy is "p-node", want "p-pod"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{"p.yaml": policy, "t.yaml": test + tc.text} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			report, err := Run(t.Context(), []string{dir}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(report.Cases[0].Failures, "\n")
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
