package chart

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

var needed = regexp.MustCompile("(?m)^\\| `([a-z]+\\.[a-z0-9.-]+)` \\| `(v[a-z0-9]+)` \\|.*\\| ([^|]*) \\|$")

// TestNeededKindsAreNamed: the README names the CRDs that the policies need, for
// which of them, and the versions that they are written for.
func TestNeededKindsAreNamed(t *testing.T) {
	got := map[string]map[string]bool{}
	for _, row := range needed.FindAllStringSubmatch(texts(t, chart)["README.md"], -1) {
		got[row[1]+" "+row[2]] = map[string]bool{}
		for policy := range strings.SplitSeq(row[3], ", ") {
			got[row[1]+" "+row[2]][strings.Trim(policy, "`")] = true
		}
	}
	if diff := cmp.Diff(neededKinds(t), got); diff != "" {
		t.Errorf("CRDs and the policies that need them (- policies, + README):\n%s", diff)
	}
}

// neededKinds returns the policies that read or write each custom kind.
func neededKinds(t *testing.T) map[string]map[string]bool {
	t.Helper()
	versions := map[string]string{}
	for _, text := range texts(t, filepath.Join(root, "test", "crds")) {
		var crd struct {
			Metadata struct{ Name string }
			Spec     struct{ Versions []struct{ Name string } }
		}
		if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
			t.Fatal(err)
		}
		versions[crd.Metadata.Name] = crd.Spec.Versions[0].Name
	}
	out := map[string]map[string]bool{}
	for file, text := range texts(t, filepath.Join(chart, "files", "rbac")) {
		var derived struct{ Rules []rbacv1.PolicyRule }
		if err := yaml.Unmarshal([]byte(text), &derived); err != nil {
			t.Fatal(err)
		}
		for _, rule := range derived.Rules {
			for _, resource := range rule.Resources {
				name := resource + "." + rule.APIGroups[0]
				if version := versions[name]; version != "" {
					if out[name+" "+version] == nil {
						out[name+" "+version] = map[string]bool{}
					}
					out[name+" "+version][strings.TrimSuffix(file, ".yaml")] = true
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("no policy needs a custom kind")
	}
	return out
}
