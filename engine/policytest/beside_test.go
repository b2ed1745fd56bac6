package policytest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPathsOfATest: policies and worlds are found beside the test, and by absolute paths.
// Answers that lie in the folder of a world are no manifest.
func TestPathsOfATest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"p/p.yaml":           "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [{labels: {set: {example.com/a: b}}}]}]\n",
		"world/node.yaml":    "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n",
		"world/answers.json": `{"extender": {"default": 1}}`,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, root := range map[string]string{"beside it": "..", "absolute": folder} {
		test := filepath.Join(folder, "tests", name+".yaml")
		text := "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [" + root + "/p/p.yaml]\n  world: [" + root + "/world]\n" +
			"  cases: [{name: a, expect: {effects: [{verb: patch, target: {kind: Node, name: n}}]}}]\n"
		if err := os.MkdirAll(filepath.Dir(test), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(test, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := Run(t.Context(), []string{test}, Options{})
		if err != nil || len(report.Cases) != 1 || len(report.Cases[0].Failures) > 0 {
			t.Errorf("%s: %v, %+v", name, err, report)
		}
	}
}
