package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChartIsUpToDate fails when a policy or the CRD has changed and the chart's copy has not.
func TestChartIsUpToDate(t *testing.T) {
	t.Parallel()
	if err := run(filepath.Join("..", ".."), true); err != nil {
		t.Error(err)
	}
}

// TestCopies: several policies become files of their own, none is switched off by its text,
// tests stay behind, and the error names a copy that is not up to date.
func TestCopies(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for path, text := range map[string]string{
		"policies/a.yaml":                       "metadata:\n  name: a\nspec:\n  mode: Disabled\n  x: 1\n",
		"policies/two.yaml":                     "# yaml-language-server: x\nmetadata:\n  name: b\n---\n# of c\nmetadata:\n  name: c\n",
		"policies/a.rego":                       "package a\n",
		"policies/a_test.rego":                  "package a\n",
		"api/crds/sets.yaml":                    "kind: CustomResourceDefinition\n",
		"charts/edict/files/policies/gone.yaml": "metadata: {}\n",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "charts/edict/crds"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := run(root, true)
	for _, want := range []string{"a.yaml is not up to date", "gone.yaml has no source", "sets.yaml is not up to date"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	for _, check := range []bool{false, true} {
		if err := run(root, check); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read(filepath.Join(root, "charts/edict/files/policies"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{
		"a.yaml": []byte("metadata:\n  name: a\nspec:\n  x: 1\n"), "a.rego": []byte("package a\n"),
		"b.yaml": []byte("# yaml-language-server: x\nmetadata:\n  name: b\n"), "c.yaml": []byte("# yaml-language-server: x\n# of c\nmetadata:\n  name: c\n"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
