package main

import (
	"os"
	"strings"
	"testing"
)

// TestFmt lists, prints and writes what is not formatted.
func TestFmt(t *testing.T) {
	t.Parallel()
	const wide = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n    for: {apiVersion: v1, kind: Node}\n"
	want := strings.ReplaceAll(wide, "    for", "  for")
	folder := t.TempDir()
	file := write(t, folder, "p.yaml", wide)
	write(t, folder, "pod.yaml", "kind:   Pod\napiVersion: v1\n")
	if got := program(t, "fmt", "--check", folder); got.code != exitFindings || got.stdout != file+"\n" || !strings.Contains(got.stderr, "1 file is not formatted; edict fmt -w does it") {
		t.Errorf("%+v", got)
	}
	if got, err := execute(t, "fmt", file); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := execute(t, "fmt", "-w", folder); err != nil || got != "" {
		t.Errorf("%v\n%s", err, got)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != want {
		t.Errorf("%v\n%s", err, text)
	}
	if got := program(t, "fmt", "--check", folder); got.code != 0 {
		t.Errorf("%+v", got)
	}
	broken := write(t, t.TempDir(), "b.yaml", "a: b: c\n")
	if got := program(t, "fmt", broken); got.code != exitFindings || !strings.Contains(got.stderr, "not valid YAML") {
		t.Errorf("%+v", got)
	}
}

// TestShippedDocumentsAreFormatted: what is shipped is laid out as edict fmt does.
func TestShippedDocumentsAreFormatted(t *testing.T) {
	t.Parallel()
	if got := program(t, "fmt", "--check", "../../policies", "../../policy-tests", "../../examples"); got.code != 0 {
		t.Errorf("%+v", got)
	}
}
