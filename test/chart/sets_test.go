package chart

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/api/v1alpha1"
)

// policySets decodes the PolicySets of a rendered chart, strictly, by name.
func policySets(t *testing.T, list []*object) map[string]*v1alpha1.PolicySet {
	t.Helper()
	out := map[string]*v1alpha1.PolicySet{}
	for _, one := range list {
		if one.GetKind() != "PolicySet" {
			continue
		}
		text, err := json.Marshal(one.Object)
		set := &v1alpha1.PolicySet{}
		if err == nil {
			err = yaml.UnmarshalStrict(text, set)
		}
		if err != nil {
			t.Fatal(err)
		}
		out[set.Name] = set
	}
	return out
}

// textOf returns the data of the ConfigMap that a set refers to.
func textOf(t *testing.T, list []*object, set *v1alpha1.PolicySet) map[string]string {
	t.Helper()
	configMap := find(list, "ConfigMap", set.Spec.Source.ConfigMap.Name)
	if configMap == nil || configMap.GetNamespace() != set.Namespace {
		t.Fatalf("the PolicySet %s refers to the ConfigMap %s, which is not there", set.Name, set.Spec.Source.ConfigMap.Name)
	}
	data, _, err := unstructured.NestedStringMap(configMap.Object, "data")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// digest is the digest of the data of a ConfigMap as the contract has it.
func digest(data map[string]string) string {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(hash, "%s %d\n%s", key, len(data[key]), data[key])
	}
	return fmt.Sprintf("sha256:%x", hash.Sum(nil))
}

// TestPoliciesArriveWhole: each policy has a set, whose ConfigMap holds the text byte for byte
// and nothing of ours besides; the digest of a pinned set is that of the text.
func TestPoliciesArriveWhole(t *testing.T) {
	list := objects(t, template(t, "--values", values("everything")))
	sets := policySets(t, list)
	if diff := cmp.Diff(shipped(t), slices.Sorted(maps.Keys(sets))); diff != "" {
		t.Errorf("PolicySets (- policies, + rendered):\n%s", diff)
	}
	files := texts(t, filepath.Join(chart, "files", "policies"))
	var pinned []string
	for name, set := range sets {
		want := map[string]string{name + ".yaml": files[name+".yaml"]}
		if rego, ok := files[name+".rego"]; ok {
			want[name+".rego"] = rego
		}
		data := textOf(t, list, set)
		if diff := cmp.Diff(want, data); diff != "" {
			t.Errorf("the text of %s (- files, + rendered):\n%s", name, diff)
		}
		if set.Spec.Pinned != nil {
			pinned = append(pinned, name)
			if set.Spec.Source.Digest != digest(data) {
				t.Errorf("%s: the digest is %s, of the text %s", name, set.Spec.Source.Digest, digest(data))
			}
		}
		configMap := find(list, "ConfigMap", release+"-"+name)
		for key := range configMap.GetLabels() {
			if strings.Contains(key, "edict.dev") {
				t.Errorf("the ConfigMap of %s has the label %s", name, key)
			}
		}
		if notes := configMap.GetAnnotations(); len(notes) > 0 {
			t.Errorf("the ConfigMap of %s has the annotations %v", name, notes)
		}
	}
	slices.Sort(pinned)
	if diff := cmp.Diff([]string{"kmm-module-finalizer", "kmm-node-entries", "kmm-node-modules"}, pinned); diff != "" {
		t.Errorf("pinned are (-want +got):\n%s", diff)
	}
}

// awkward are texts that YAML or a template could change.
var awkward = map[string]string{
	"non-ASCII":         "# größer, 世界, \U0001F600, e\u0301\nkind: Policy\n",
	"no line break":     "kind: Policy",
	"many line breaks":  "kind: Policy\n\n\n",
	"leading space":     "\n\n  kind: Policy\n  metadata: {name: p}\n",
	"spaces at the end": "kind: Policy   \n\t\n   \n# end  \n",
	"tab":               "# a\tb\n#\t\nkind: Policy\n",
	"carriage return":   "kind: Policy\r\n# b\r\n",
	"alone":             "# a\rb\nkind: Policy\n",
	"next line":         "# a\u0085b\nkind: Policy\n",
	"separators":        "# a\u2028b\u2029c\nkind: Policy\n",
	"byte order mark":   "# a\ufeffb\nkind: Policy\n",
	"quotes":            "# \"<a>\" & 'b' {{ .Values }} \\n %s %d\nkind: Policy\n",
	"documents":         "kind: Policy\n---\n# b\n...\n--- # c\nkind: Policy\n",
	"not in a plane":    "# \U0010FFFD \u007f\nkind: Policy\n",
}

// TestDigest: of whatever text, the digest is that of the data as it is stored, and no more
// than line breaks of a text are changed.
func TestDigest(t *testing.T) {
	for name, text := range awkward {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "text")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			list := objects(t, template(t, "--set", "extraPolicies.mine.pinned=true,extraPolicies.mine.text=kind: größer", "--set-file", "extraPolicies.mine.rego="+file))
			set := policySets(t, list)["mine"]
			data := textOf(t, list, set)
			if set.Spec.Source.Digest != digest(data) {
				t.Errorf("the digest is %s, of the data %s\n%q", set.Spec.Source.Digest, digest(data), data)
			}
			want := strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) + "\n"
			if diff := cmp.Diff(map[string]string{"mine.yaml": "kind: größer\n", "mine.rego": want}, data); diff != "" {
				t.Errorf("the data (- want, + rendered):\n%s", diff)
			}
		})
	}
}

// TestSpec: what the values say stands in the set of the policy, and nothing that they do not say.
func TestSpec(t *testing.T) {
	spec := func(name string, arguments ...string) string {
		t.Helper()
		text, err := yaml.Marshal(policySets(t, objects(t, template(t, arguments...)))[name].Spec)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const label = `allow:
- apiGroup: ""
  fields:
  - metadata.labels.storage.deckhouse.io/sds-replicated-volume-node
  kind: Node
  policy: agent-node-label
`
	source := func(name string) string { return "source:\n  configMap:\n    name: edict-" + name + "\n" }
	for name, test := range map[string]struct {
		set, arguments, want string
	}{
		"as shipped":         {"agent-node-label", "", label + source("agent-node-label")},
		"default mode":       {"agent-node-label", "defaultMode=Enforce", label + "mode: Enforce\n" + source("agent-node-label")},
		"mode and suspend":   {"agent-node-label", "defaultMode=Enforce,policies.agent-node-label.mode=Disabled,policies.agent-node-label.suspend=true", label + "mode: Disabled\n" + source("agent-node-label") + "suspend: true\n"},
		"not suspended":      {"replica-scheduling", "policies.replica-scheduling.suspend=false", source("replica-scheduling") + "suspend: false\n"},
		"params":             {"replica-scheduling", "params.replica-scheduling.attachToBonus=1000000,params.replica-scheduling.keepPlacement=true,params.agent-node-label.label=x", "params:\n  replica-scheduling:\n    attachToBonus: 1000000\n    keepPlacement: true\n" + source("replica-scheduling")},
		"a policy of others": {"mine", "extraPolicies.mine.text=a: b,extraPolicies.mine.mode=Shadow,extraPolicies.mine.allowances[0].kind=Pod,extraPolicies.mine.allowances[0].fields={delete},extraPolicies.mine.allowances[0].namespaces={a}", "allow:\n- apiGroup: \"\"\n  fields:\n  - delete\n  kind: Pod\n  namespaces:\n  - a\n  policy: mine\nmode: Shadow\n" + source("mine")},
	} {
		if diff := cmp.Diff(test.want, spec(test.set, "--set", test.arguments)); diff != "" {
			t.Errorf("%s (- want, + rendered):\n%s", name, diff)
		}
	}
}

// TestAllowancesArrive: each set has the allowances of its policies, and all are there.
func TestAllowancesArrive(t *testing.T) {
	var file struct {
		Spec struct{ Allow []v1alpha1.Allowance }
	}
	if err := yaml.Unmarshal([]byte(texts(t, filepath.Join(root, "policies"))["allowances.yaml"]), &file); err != nil {
		t.Fatal(err)
	}
	want, got := map[string][]v1alpha1.Allowance{}, map[string][]v1alpha1.Allowance{}
	for _, one := range file.Spec.Allow {
		want[one.Policy] = append(want[one.Policy], one)
	}
	for name, set := range policySets(t, objects(t, template(t, "--values", values("everything")))) {
		if len(set.Spec.Allow) > 0 {
			got[name] = set.Spec.Allow
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("allowances (- policies/allowances.yaml, + rendered):\n%s", diff)
	}
}

// TestExtraPolicies: a policy of one's own comes with the values, with its permissions and an
// account that the controller may impersonate.
func TestExtraPolicies(t *testing.T) {
	list := objects(t, template(t,
		"--set-file", "extraPolicies.mine.text="+filepath.Join(root, "examples", "choosing", "policy.yaml"),
		"--set", "extraPolicies.mine.extraRules[0].apiGroups={apps},extraPolicies.mine.extraRules[0].resources={deployments},extraPolicies.mine.extraRules[0].verbs={get}",
		"--set", "extraPolicies.off.text=kind: Policy,extraPolicies.off.enabled=false"))
	binding := find(list, "ClusterRoleBinding", namespace+"-"+release+"-mine")
	if find(list, "PolicySet", "mine") == nil || find(list, "ClusterRole", namespace+"-"+release+"-mine") == nil || binding == nil {
		t.Fatal("the policy or its permissions are missing")
	}
	if text := fmt.Sprint(binding.Object["subjects"]); !strings.Contains(text, "edict-policy-mine") {
		t.Errorf("the permissions are those of %s", text)
	}
	if find(list, "PolicySet", "off") != nil || find(list, "ConfigMap", release+"-off") != nil {
		t.Error("what is off is rendered")
	}
	role := find(list, "Role", release)
	if text := fmt.Sprint(role.Object["rules"]); !strings.Contains(text, "edict-policy-mine") || strings.Contains(text, "edict-policy-off") {
		t.Errorf("the controller may impersonate: %s", text)
	}
}
