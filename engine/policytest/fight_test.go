package policytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAFightFailsACase: policies that never come to rest end the case and fail
// it, unless that is what it expects.
func TestAFightFailsACase(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	policy := func(name string) string {
		return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: own, do: [{labels: {set: {owner: " + name + "}}}]}]\n"
	}
	for name, text := range map[string]string{
		"p.yaml": policy("one") + "---\n" + policy("two"),
		"t.yaml": `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [p.yaml]
  objects: [{apiVersion: v1, kind: Node, metadata: {name: a}}]
  cases:
    - name: nothing is expected
    - name: something else is expected
      steps: [{advance: 1h}]
      expect: {objects: [{apiVersion: v1, kind: Node, metadata: {name: a}}]}
    - name: it is expected
      steps: [{advance: 1h}]
      expect: {errors: ["never comes to rest about a"]}
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := Run(t.Context(), []string{folder}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Cases {
		text := strings.Join(c.Failures, "\n")
		if want := !strings.HasPrefix(c.Name, "it is"); want != strings.Contains(text, `the rule "own" writes metadata.labels.owner of Node a`) {
			t.Errorf("%s: %q", c.Name, text)
		}
	}
	if len(report.Cases) != 3 || report.Failed() != 2 {
		t.Errorf("%d of %d cases failed", report.Failed(), len(report.Cases))
	}
}
