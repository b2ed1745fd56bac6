package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// TestExplainWithoutAnObject: of a policy with children, a key without an object is decided
// about only while something is left of it.
func TestExplainWithoutAnObject(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("p.yaml", "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Namespace}\n"+
		"  children: [{name: c, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: \"${key.name}\"}}}]\n")
	write("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: gone\n  labels: {edict.dev/policy: p, edict.dev/child: c}\n"+
		"  annotations: {edict.dev/primary-name: gone}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: here}\n")
	for key, want := range map[string]string{"here": "", "gone": "", "nobody": "there is no Namespace nobody", "x/here": "there is no Namespace x/here"} {
		got := program(t, "explain", "p", key, "--policies", folder, "--objects", filepath.Join(folder, "o.yaml"))
		if want == "" && got.code != 0 || want != "" && (got.code != exitFindings || !strings.Contains(got.stderr, want)) {
			t.Errorf("%s: exit code %d, %s%s", key, got.code, got.stdout, got.stderr)
		}
	}
}

// TestAfter: a time of centuries to come has no duration.
func TestAfter(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if got := after(start.Add(1500*time.Millisecond), start); got != " (+1.5s)" {
		t.Errorf("got %q", got)
	}
	if got := after(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), start); got != "" {
		t.Errorf("got %q", got)
	}
}
