package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpdateFlag: tests that fail pass after --update, and say that they were changed.
func TestUpdateFlag(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/run")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "fails.yaml")
	if r := program(t, "test", file); r.code != 1 {
		t.Fatal(r)
	}
	r := program(t, "test", "--update", file)
	if r.code != 0 || !strings.Contains(r.stderr, "1 expectation changed: look at the difference") || !strings.Contains(r.stdout, "2 passed") {
		t.Error(r)
	}
}

// TestUpdateFlagOfAMatrix: what the rows agree on is written, and where they do not is said.
func TestUpdateFlagOfAMatrix(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "p.yaml", `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  rules: [{name: label, do: [{labels: {set: {a: "1", b: "${key.name}", c: "${key.name.upperAscii()}"}}}]}]
`)
	const test = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [p.yaml]
  cases:
    - name: c
      matrix: [{name: x}, {name: y}]
      objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: $(name), namespace: n}}]
      expect: {effects: [{patch: {metadata: {labels: {LABELS}}}}]}
`
	file := write(t, folder, "t.yaml", strings.Replace(test, "LABELS", `a: "2", b: $(name)`, 1))
	r := program(t, "test", "--update", file)
	if text, err := os.ReadFile(file); err != nil || r.code != 0 || string(text) != strings.Replace(test, "LABELS", `a: "1", b: $(name)`, 1) {
		t.Errorf("%v\n%s", r, text)
	}
	write(t, folder, "t.yaml", strings.Replace(test, "LABELS", "c: z", 1))
	if r := program(t, "test", "--update", file); r.code != 1 || !strings.Contains(r.stderr, `"c [name=x]" has "X", "c [name=y]" has "Y"`) {
		t.Error(r)
	}
}
