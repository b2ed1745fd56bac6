package chart

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sets are the names of the value sets in testdata.
var sets = []string{"default", "everything", "minimal", "extender", "outside"}

func values(set string) string { return filepath.Join("testdata", set+".values.yaml") }

func TestGoldenManifests(t *testing.T) {
	for _, set := range sets {
		t.Run(set, func(t *testing.T) {
			got := elide(t, template(t, "--values", values(set)))
			path := filepath.Join("testdata", set+".golden.yaml")
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("rendered with %s (- golden, + now; UPDATE_GOLDEN=1 writes it anew):\n%s", values(set), diff)
			}
		})
	}
}

// elide replaces what comes from files by a word about it: the texts of policies
// and the rules that are derived from them. They have tests of their own, and
// may change without the chart.
func elide(t *testing.T, manifests string) string {
	t.Helper()
	var kept []string
	indent, source := "", ""
	for line := range strings.Lines(checksum.ReplaceAllString(manifests, "sha256:(a hash)")) {
		if indent != "" && (strings.HasPrefix(line, indent) || strings.TrimSpace(line) == "") {
			continue
		}
		indent = ""
		kept = append(kept, line)
		if of, found := strings.CutPrefix(line, "# Source: "); found {
			source = of
		}
		if name, found := strings.CutSuffix(strings.TrimPrefix(line, "  "), ": |\n"); found && isFile(t, name) {
			kept = append(kept, "    (the text of "+name+")\n")
			indent = "    "
		}
		if line == "rules:\n" && source == "edict/templates/policy-rbac.yaml\n" {
			kept = append(kept, "  (derived from the policy)\n")
			indent = "  "
		}
	}
	return strings.Join(kept, "")
}

var checksum = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

func isFile(t *testing.T, name string) bool {
	t.Helper()
	for _, path := range []string{filepath.Join("policies", name), "dashboard.json"} {
		_, err := os.Stat(filepath.Join(chart, "files", path))
		if err == nil && (filepath.Base(path) == name || name == "edict.json") {
			return true
		}
	}
	return false
}
