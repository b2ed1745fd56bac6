package policytest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/coverage"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/source"
)

// inManifest writes policies, tests and Rego down as the manifests of ConfigMaps.
const inManifest = `apiVersion: v1
kind: ServiceAccount
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one}
data:
  p.yaml: |
    apiVersion: edict.dev/v1alpha1
    kind: Policy
    metadata: {name: p}
    spec:
      for: {apiVersion: v1, kind: Pod}
      params: {app: {default: b}}
      rules:
        - name: label
          do: [{labels: {set: {app: "${params.app}"}}}]
  p.rego: |
    package p
    x := "y"
  p_test.rego: |
    package p_test
    import data.p
    test_x if p.x == "y"
  params.yaml: "p: {app: c}"
  broken.yaml: |
    apiVersion: edict.dev/v1alpha1
    kind: Policy
    metadata: {name: broken}
    spec: {for: {apiVersion: v1, kind: Pod}, rules: [{name: r, when: nobody, do: [{fail: x}]}]}
  p_test.yaml: |
    apiVersion: edict.dev/v1alpha1
    kind: PolicyTest
    metadata: {name: t}
    spec:
      policies: [p.yaml]
      objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n}}]
      cases:
        - name: the default of the param
          expect: {effects: [{rule: label, patch: {metadata: {labels: {app: b}}}}]}
        - name: fails
          expect: {effects: []}
---
apiVersion: edict.dev/v1alpha1
kind: PolicySet
metadata: {name: two}
spec:
  source: {configMap: {name: one}}
  mode: Disabled
  params: {p: {app: d}}
---
apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: beside}
spec:
  policies: [other.yaml]
  objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n}}]
  cases:
    - name: a test of a file
      expect: {effects: [{rule: label}]}
`

// TestManifest: the tests in a ConfigMap run as in the controller: beside its policies,
// whatever their mode, with the default params.
func TestManifest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "m.yaml")
	for name, text := range map[string]string{"m.yaml": inManifest, "other.yaml": updatedPolicy} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var edited []string
	used := coverage.New()
	report, err := policytest.Run(t.Context(), []string{file}, policytest.Options{
		Coverage: used, Edit: func(u *source.Unit) { edited = append(edited, u.Name()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, c := range report.Cases {
		got[strings.TrimPrefix(c.File, folder)+": "+c.Name] = len(c.Failures) == 0
	}
	want := map[string]bool{
		"/m.yaml/one/p_test.rego: p_test.test_x":            true,
		"/m.yaml/one/p_test.yaml: the default of the param": true,
		"/m.yaml/one/p_test.yaml: fails":                    false,
		"/m.yaml: a test of a file":                         true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cases that pass (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"p", "p", "p"}, edited); diff != "" {
		t.Errorf("policies that were edited (-want +got):\n%s", diff)
	}
	if report.Coverage["p"]["label"] == 0 || len(used.Points()) == 0 {
		t.Errorf("nothing is covered: %v", report.Coverage)
	}

	if n, err := report.Update(); n != 0 || err == nil || !strings.Contains(err.Error(), "m.yaml/one/p_test.yaml: the tests in the manifest of a ConfigMap are not updated") {
		t.Errorf("update: %d replaced, %v", n, err)
	}
}

// TestMissingKey: a test in a ConfigMap that names no key of it does not run without its
// policy.
func TestMissingKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(inManifest, "policies: [p.yaml]", "policies: [q.yaml]")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := policytest.Run(t.Context(), []string{path}, policytest.Options{}); err == nil || !strings.Contains(err.Error(), `the ConfigMap has no key "q.yaml" (keys with policies are broken.yaml, p.yaml;`) {
		t.Errorf("got %v", err)
	}
}
