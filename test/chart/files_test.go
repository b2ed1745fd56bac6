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
	sources := texts(t, filepath.Join(root, "policies"))
	for _, name := range shipped(t) {
		want[name] = !strings.Contains(sources[name+".yaml"], "\n  mode: Disabled\n")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the policies in values.yaml, and whether they are on (- policies, + values):\n%s", diff)
	}
}

// shipped returns the names of the policy files of the chart.
func shipped(t *testing.T) (out []string) {
	t.Helper()
	for name := range texts(t, filepath.Join(chart, "files", "policies")) {
		if policy, found := strings.CutSuffix(name, ".yaml"); found && policy != "allowances" {
			out = append(out, policy)
		}
	}
	slices.Sort(out)
	return out
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
