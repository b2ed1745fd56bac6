package chart

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestChartHoldsThePolicies compares the chart's copies with policies/.
func TestChartHoldsThePolicies(t *testing.T) {
	want := texts(t, filepath.Join(root, "policies"))
	for name := range want {
		if strings.HasSuffix(name, "_test.rego") {
			delete(want, name)
		}
	}
	if diff := cmp.Diff(want, texts(t, filepath.Join(chart, "files", "policies"))); diff != "" {
		t.Errorf("make generate brings the chart's policies up to date (- policies, + chart):\n%s", diff)
	}
}

// texts reads the files of a folder.
func texts(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() { // policies/schemas is a link
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[entry.Name()] = string(text)
	}
	return found
}

// TestEveryPolicyHasAValue: what is shipped can be switched, and nothing else.
func TestEveryPolicyHasAValue(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var given struct {
		Policies map[string]struct{ Enabled bool }
	}
	if err := yaml.Unmarshal(text, &given); err != nil {
		t.Fatal(err)
	}
	got, want := map[string]bool{}, map[string]bool{}
	for name, policy := range given.Policies {
		got[name] = policy.Enabled
	}
	for name, text := range texts(t, filepath.Join(root, "policies")) {
		if policy, found := strings.CutSuffix(name, ".yaml"); found && policy != "allowances" {
			want[policy] = !strings.Contains(text, "\n  mode: Disabled\n")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the policies in values.yaml, and whether they are on (- policies, + values):\n%s", diff)
	}
}

// TestPoliciesArriveWhole: the ConfigMaps hold the texts byte for byte, and a
// policy whose text is switched off is on when its value says so.
func TestPoliciesArriveWhole(t *testing.T) {
	list := objects(t, template(t, "--values", values("everything")))
	files := texts(t, filepath.Join(chart, "files", "policies"))
	for name, text := range files {
		policy := strings.TrimSuffix(name, filepath.Ext(name))
		if policy == "allowances" { // they are arguments of the controller
			continue
		}
		where := release + "-" + policy
		configMap := find(list, "ConfigMap", where)
		if configMap == nil {
			t.Errorf("there is no ConfigMap %s", where)
			continue
		}
		data, _ := configMap.Object["data"].(map[string]any)
		if mode := configMap.GetAnnotations()["edict.dev/mode"]; strings.Contains(text, "\n  mode: Disabled\n") && mode != "Enforce" {
			t.Errorf("the mode of %s is %q", where, mode)
		}
		if diff := cmp.Diff(text, data[name]); diff != "" {
			t.Errorf("%s of %s (- file, + rendered):\n%s", name, where, diff)
		}
		if configMap.GetLabels()["edict.dev/policy"] != "true" {
			t.Errorf("%s is not labelled as a policy", where)
		}
	}
}

// TestHelmAndTheControllerDoNotRace: what the controller makes if it is missing is
// made by helm before any Pod can run, or not at all.
func TestHelmAndTheControllerDoNotRace(t *testing.T) {
	list := objects(t, template(t, "--values", values("everything")))
	made := map[string]bool{}
	for _, o := range list {
		if o.GetKind() != "Role" && o.GetKind() != "ClusterRole" {
			continue
		}
		rules, _, _ := unstructured.NestedSlice(o.Object, "rules")
		for _, rule := range rules {
			verbs, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "verbs")
			resources, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resources")
			for _, resource := range resources {
				made[resource] = made[resource] || slices.Contains(verbs, "create")
			}
		}
	}
	if !made["controllerrevisions"] || !made["leases"] {
		t.Errorf("the controller's Roles are not read: it may create %v", made)
	}
	// The manifests stand in the order in which helm makes them.
	deployment := slices.IndexFunc(list, func(o *object) bool { return o.GetKind() == "Deployment" })
	for _, o := range list[deployment:] {
		if _, hook := o.GetAnnotations()["helm.sh/hook"]; !hook && made[strings.ToLower(o.GetKind())+"s"] {
			t.Errorf("helm makes %s %s after the Deployment, and the controller may have made it: leave it to the controller", o.GetKind(), o.GetName())
		}
	}
}
