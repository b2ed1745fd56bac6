package policytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRegoTestsRunBesideThePolicies: tests written in Rego run with the policy
// that they stand beside, once, and one that does not hold is a failed case.
func TestRegoTestsRunBesideThePolicies(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"p.yaml": `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  variables:
    - name: even
      rego: {query: data.p.even, input: {n: "${size(key.name)}"}}
  rules:
    - {name: tell, do: [{labels: {set: {even: "${string(variables.even)}"}}}]}
`,
		"p.rego":      "package p\n\nimport rego.v1\n\ndefault even := false\n\neven if input.n % 2 == 0\n",
		"p_test.rego": "package p_test\n\nimport data.p\nimport rego.v1\n\ntest_even if p.even with input as {\"n\": 4}\n\ntest_odd if p.even with input as {\"n\": 3}\n",
		"cases.yaml": `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [p.yaml]
  cases:
    - name: a name of four letters
      objects: [{apiVersion: v1, kind: Node, metadata: {name: abcd}}]
      expect:
        objects: [{apiVersion: v1, kind: Node, metadata: {name: abcd, labels: {even: "true"}}}]
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
	got := map[string]string{}
	for _, c := range report.Cases {
		got[c.Name] = strings.Join(c.Failures, "\n")
	}
	if len(got) != 3 || len(report.Cases) != 3 || got["p_test.test_even"] != "" || got["a name of four letters"] != "" || !strings.Contains(got["p_test.test_odd"], "p_test.rego:8") {
		t.Errorf("%v", got)
	}
}
