package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExplainWritesNothing: an explanation says what would be written, and not that
// it was.
func TestExplainWritesNothing(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	out := explained(t, "storage-pool-eligibility", "fast", "--objects", "examples/storage")
	if !strings.Contains(out, "patch ReplicatedStoragePool fast (status), rule") || strings.Contains(out, "written") {
		t.Error(out)
	}
}

// TestExplainWithoutAnswers: a decision that needs an answer which is not known is
// not made, instead of being made as if the builtin had said no.
func TestExplainWithoutAnswers(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	folder := t.TempDir()
	for _, name := range []string{"nodes.yaml", "pools.yaml", "volume-groups.yaml", "volumes.yaml", "agents.yaml", "resources.yaml"} {
		text, err := os.ReadFile(filepath.Join("examples", "storage", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := explained(t, "replica-scheduling", "orders", "--objects", folder, "--until", "0s")
	if !strings.Contains(out, "its answer is not known") || !strings.Contains(out, "Writes: none, because of the failure") {
		t.Error(out)
	}
	cmd := root()
	cmd.SetOut(&bytes.Buffer{})
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetArgs([]string{"capture", "replica-scheduling", "orders", "--policies", "policies", "--objects", folder, "--until", "0s"})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "it needs an answer that is not known") {
		t.Errorf("capture: %v", err)
	}
}

func explained(t *testing.T, args ...string) string {
	t.Helper()
	cmd := root()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(append([]string{"explain", "--policies", "policies", "--now", "2026-03-01T12:00:00Z"}, args...))
	if err := cmd.Execute(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}
