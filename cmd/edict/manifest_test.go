package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManifestsInAllCommands: whoever keeps policies in the manifests of ConfigMaps is told
// the same as whoever keeps them in files.
func TestManifestsInAllCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/run/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	inFile := write(t, folder, "file/p.yaml", string(text))
	inManifest := write(t, folder, "manifest/m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  p.yaml: |\n    "+
		strings.ReplaceAll(string(text), "\n", "\n    "))
	world := write(t, folder, "world/o.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {unschedulable: true}\n")
	for name, args := range map[string][]string{
		"check":      {"check"},
		"rbac":       {"rbac"},
		"allowances": {"allowances"},
		"graph":      {"graph"},
		"params":     {"params", "--policies"},
		"simulate":   {"simulate", "--objects", world, "--now", "2026-01-01T00:00:00Z", "-o", "yaml", "--policies"},
		"explain":    {"explain", "cordoned", "a", "--objects", world, "--now", "2026-01-01T00:00:00Z", "--policies"},
		"plan":       {"plan", "--against", inFile, "--objects", world, "--now", "2026-01-01T00:00:00Z", "--policies"},
		"verify":     {"verify", "--objects", world, "--states", "20", "--policies"},
		"eval":       {"eval", "--policy", "cordoned", "--objects", world, "object.metadata.name", "--key", "a", "--policies"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, wrong := execute(t, append(args, inFile)...)
			got, failed := execute(t, append(args, inManifest)...)
			got = strings.ReplaceAll(got, filepath.Join(inManifest, "c", "p.yaml"), inFile)
			if got != want || outcome(failed) != outcome(wrong) || strings.Contains(outcome(wrong), "unknown flag") {
				t.Errorf("from a file: %s\n%s\nfrom a manifest: %s\n%s", outcome(wrong), want, outcome(failed), got)
			}
		})
	}
}
