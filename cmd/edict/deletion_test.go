package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeFiles writes files into a new folder, and returns it.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestExplainADeletion: explain names the finalizer of a child that is being deleted.
func TestExplainADeletion(t *testing.T) {
	t.Parallel()
	folder := writeFiles(t, map[string]string{
		"policy/p.yaml": `{apiVersion: edict.dev/v1alpha1, kind: Policy, metadata: {name: app}, spec: {for: {apiVersion: v1, kind: ServiceAccount}, finalizer: {name: example.com/app},
  children: [{name: c, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${key.name}-c"}}}]}}`,
		"world.yaml": `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, namespace: shop, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [example.com/app]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: web-c, namespace: shop, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [example.com/backup],
  labels: {edict.dev/child: c, edict.dev/policy: app}, annotations: {edict.dev/primary-name: web, edict.dev/primary-namespace: shop}}}`,
	})
	cmd := root()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs([]string{"explain", "app", "shop/web", "--policies", filepath.Join(folder, "policy"), "--objects", filepath.Join(folder, "world.yaml")})
	if err := cmd.Execute(); err != nil || !strings.Contains(out.String(), "ConfigMap shop/web-c is being deleted, and kept by example.com/backup") || strings.Contains(out.String(), "\x00") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestSimulateTellsWhatIsMissing: the table has refused evictions, and patches of a timeline
// without an object.
func TestSimulateTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	folder := writeFiles(t, map[string]string{
		"policy/p.yaml":          `{apiVersion: edict.dev/v1alpha1, kind: Policy, metadata: {name: p}, spec: {for: {apiVersion: v1, kind: Pod}, rules: [{name: go, do: [{evict: {}}]}]}}`,
		"policy/allowances.yaml": `{apiVersion: edict.dev/v1alpha1, kind: Allowances, metadata: {name: a}, spec: {allow: [{policy: p, apiGroup: "", kind: Pod, fields: [evict]}]}}`,
		"world.yaml": `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: x, labels: {app: a}}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: x}, spec: {selector: {}}, status: {observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 1, currentHealthy: 1}}`,
		"none.yaml":     `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}}`,
		"timeline.yaml": `[{at: 1m, patch: {apiVersion: v1, kind: Pod, metadata: {name: gone, namespace: x}}}]`,
	})
	for objects, want := range map[string][]string{
		"world.yaml": {"VERB", "evict  Pod/x/a  go: Cannot evict pod", "the timeline patches Pod/x/gone at +1m0s, and there is no such object"},
		"none.yaml":  {"Nothing was written.", "there is no such object"},
	} {
		cmd := root()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs([]string{"simulate", "--policies", filepath.Join(folder, "policy"), "--objects", filepath.Join(folder, objects), "--timeline", filepath.Join(folder, "timeline.yaml"), "--now", "2026-03-01T12:00:00Z"})
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(out.String(), part) || strings.Contains(out.String(), "Nothing to write") {
				t.Errorf("%s: want %q in\n%s", objects, part, out.String())
			}
		}
	}
}
