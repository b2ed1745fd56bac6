package chart

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// allowed returns the allowances that the controller is started with.
func allowed(t *testing.T, list []*unstructured.Unstructured) (out []string) {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(find(list, "Deployment", release).Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) == 0 {
		t.Fatal("the Deployment has no containers", err)
	}
	args, _ := containers[0].(map[string]any)["args"].([]any)
	for _, arg := range args {
		text, _ := arg.(string)
		if one, found := strings.CutPrefix(text, "--allow="); found {
			out = append(out, one)
		}
	}
	return out
}

// lacking returns what the policies of a release lack of what is protected.
func lacking(t *testing.T, list []*unstructured.Unstructured, edit func(configMap string, data map[string]string)) (out []string) {
	t.Helper()
	allowances, err := source.LoadAllowances(nil, allowed(t, list))
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(allowances)
	shipped, err := source.Load([]string{"../../policies"}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if o.GetLabels()["edict.dev/policy"] != "true" {
			continue
		}
		data, _, _ := unstructured.NestedStringMap(o.Object, "data")
		edit(o.GetName(), data)
		m := source.ConfigMap{Namespace: o.GetNamespace(), Name: o.GetName(), Data: data}
		for _, u := range m.Read().Units {
			p, problems, err := u.Compile(shipped.Schemas, nil)
			if err != nil || p == nil {
				t.Fatal(problems, err)
			}
			p.Mode = plan.Enforce
			for _, lack := range g.Lacks(p) {
				out = append(out, lack.Problem().Error())
			}
		}
	}
	return out
}

// TestAllowancesArePinned: the shipped policies have their allowances as the
// chart renders both. One that is pinned loses them with an edit of its text.
func TestAllowancesArePinned(t *testing.T) {
	list := objects(t, template(t, "--set", "policies.secret-restart.enabled=true,policies.kmm-module.mode=Enforce,policies.kmm-node-modules.mode=Enforce"))
	if lacks := lacking(t, list, func(string, map[string]string) {}); len(lacks) > 0 {
		t.Errorf("as shipped: %v", lacks)
	}
	lacks := lacking(t, list, func(_ string, data map[string]string) {
		for key := range data {
			data[key] += "\n# an edit\n"
		}
	})
	if len(lacks) == 0 || slices.ContainsFunc(lacks, func(l string) bool {
		return !strings.Contains(l, "it holds for the text sha256:") || !strings.Contains(l, "edict-kmm-module/") && !strings.Contains(l, "edict-kmm-node-modules/")
	}) {
		t.Errorf("edited: %v", lacks)
	}
}

// TestNothingIsAllowedInAConfigMap: whoever may write the ConfigMaps of the
// namespace does not say what policies may do. The ConfigMap that shows it is not
// mounted.
func TestNothingIsAllowedInAConfigMap(t *testing.T) {
	list := objects(t, template(t, "--values", values("everything")))
	if pod, err := json.Marshal(find(list, "Deployment", release)); err != nil || strings.Contains(string(pod), release+"-allowances") {
		t.Errorf("the Pods mount the ConfigMap of allowances: %s, %v", pod, err)
	}
	for _, o := range list {
		if o.GetLabels()[v1alpha1.LabelAllowances] == "true" {
			continue
		}
		if data, _, _ := unstructured.NestedStringMap(o.Object, "data"); o.GetKind() == "ConfigMap" {
			for key, text := range data {
				if strings.Contains(text, "kind: Allowances") {
					t.Errorf("%s of the ConfigMap %s has allowances", key, o.GetName())
				}
			}
		}
	}
}

// TestAllowancesAreShown: what a ConfigMap shows to people and to commands is what the
// controller is started with.
func TestAllowancesAreShown(t *testing.T) {
	t.Parallel()
	list := objects(t, template(t, "--set", "extraAllowances[0].policy=mine,extraAllowances[0].kind=Pod,extraAllowances[0].fields={delete}"))
	want, err := source.LoadAllowances(nil, allowed(t, list))
	if err != nil {
		t.Fatal(err)
	}
	m := find(list, "ConfigMap", release+"-allowances")
	data, _, _ := unstructured.NestedStringMap(m.Object, "data")
	got, problems := (&source.ConfigMap{Namespace: m.GetNamespace(), Name: m.GetName(), Data: data}).ReadAllowances()
	if m.GetLabels()[v1alpha1.LabelAllowances] != "true" || len(problems) > 0 || len(got) == 0 {
		t.Fatal(m.GetLabels(), problems, got)
	}
	if !reflect.DeepEqual(guard.New(want), guard.New(got)) {
		t.Errorf("shown are %v, the controller has %v", guard.New(got), guard.New(want))
	}
}
