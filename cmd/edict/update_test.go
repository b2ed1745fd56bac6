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
