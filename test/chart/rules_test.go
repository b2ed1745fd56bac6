package chart

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// derived is a file of files/rbac.
type derived struct {
	Rules      []any `json:"rules"`
	Namespaced []struct {
		Policy, Param, Namespace string
		Rules                    []any
	} `json:"namespaced"`
}

// TestDerivedRulesArriveWhole: a policy that is on has exactly the rules that
// were derived from it, one that is off has none.
func TestDerivedRulesArriveWhole(t *testing.T) {
	for _, set := range sets {
		t.Run(set, func(t *testing.T) {
			list := objects(t, template(t, "--values", values(set)))
			got, want := map[string]any{}, map[string]any{}
			prefix := find(list, "Deployment", release)
			full := release
			if prefix == nil {
				full = "labels"
			}
			for _, one := range list {
				if name, found := strings.CutPrefix(one.GetName(), namespace+"-"+full+"-"); found && name != "metrics-reader" && !strings.HasSuffix(name, ":reads") && (one.GetKind() == "Role" || one.GetKind() == "ClusterRole") {
					got[one.GetKind()+" "+one.GetNamespace()+" "+name] = one.Object["rules"]
				}
			}
			for name, text := range texts(t, filepath.Join(chart, "files", "rbac")) {
				policy := strings.TrimSuffix(name, ".yaml")
				if find(list, "ConfigMap", full+"-"+policy) != nil {
					wantRules(t, set, policy, text, want)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rules (- files/rbac, + rendered):\n%s", diff)
			}
		})
	}
}

func wantRules(t *testing.T, set, policy, text string, want map[string]any) {
	t.Helper()
	var file derived
	if err := yaml.UnmarshalStrict([]byte(text), &file); err != nil {
		t.Fatalf("files/rbac/%s.yaml: %v", policy, err)
	}
	if len(file.Rules) > 0 {
		want["ClusterRole  "+policy] = file.Rules
	}
	for _, rule := range file.Namespaced {
		name := policy
		if rule.Policy != policy {
			name += "-" + rule.Policy
		}
		in := rule.Namespace
		if set == "extender" && rule.Param == "agentNamespace" {
			in = "storage" // as its values say
		}
		want["Role "+in+" "+name+":"+rule.Param] = rule.Rules
	}
}
