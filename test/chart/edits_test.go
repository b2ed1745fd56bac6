package chart

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/test/controlplane"
)

const (
	edited    = release + "-agent-node-label"
	editedKey = "agent-node-label.yaml"
	params    = release + "-params"
	pools     = "storage-pool-eligibility"
)

// newStore starts a cluster that stores what helm writes, and runs nothing.
func newStore(t *testing.T) *installation {
	t.Helper()
	i := &installation{cluster: startCluster(t, controlplane.Options{})}
	i.namespace(namespace)
	return i
}

// install installs the chart without waiting for its Pods.
func (i *installation) install() { i.helm("install", release, chart, "--set", "webhook.enabled=false") }

// change upgrades the release with further arguments.
func (i *installation) change(from string, arguments ...string) (string, error) {
	return i.tryHelm(append([]string{"upgrade", release, from, "--reuse-values"}, arguments...)...)
}

// upgrade upgrades the release, which has to succeed.
func (i *installation) upgrade(arguments ...string) string {
	i.t.Helper()
	notes, err := i.change(chart, arguments...)
	if err != nil {
		i.t.Fatal(err)
	}
	return notes
}

func (i *installation) edit(name string, data map[string]string) {
	i.t.Helper()
	if err := i.editConfigMap(name, data); err != nil {
		i.t.Fatal(err)
	}
}

// setMode sets the annotation for the mode of a ConfigMap, as kubectl annotate does.
func (i *installation) setMode(name, mode string) {
	i.t.Helper()
	body := []byte(`{"metadata":{"annotations":{"edict.dev/mode":"` + mode + `"}}}`)
	if _, err := i.client.CoreV1().ConfigMaps(namespace).Patch(i.t.Context(), name, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		i.t.Fatal(err)
	}
}

func (i *installation) mode(name string) string {
	i.t.Helper()
	found, err := i.client.CoreV1().ConfigMaps(namespace).Get(i.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return found.Annotations["edict.dev/mode"]
}

func (i *installation) wantData(what, name, key, want string) {
	i.t.Helper()
	if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(i.configMap(name)[key])); diff != "" {
		i.t.Errorf("%s: %s of %s (- want, + have):\n%s", what, key, name, diff)
	}
}

// TestUpgradeLeavesEditsAlone: what was edited with kubectl stays as long as the
// chart and the values say what they said before.
func TestUpgradeLeavesEditsAlone(t *testing.T) {
	i := newStore(t)
	i.install()
	shipped := i.configMap(edited)[editedKey]
	mine := "# \t<edited> & \"quoted\"  \n" + shipped
	i.edit(edited, map[string]string{editedKey: mine})
	i.edit(params, map[string]string{pools: "# room by room\nzoneLabel: example.com/room\n"})
	i.setMode(release+"-kmm-module", "Disabled")

	for range 2 { // what stays must stay again
		notes := i.upgrade("--set", "workers=11")
		for _, want := range []string{"the text in edict-agent-node-label", "the mode in edict-kmm-module", "the params of " + pools} {
			if !strings.Contains(notes, want) {
				t.Errorf("the notes do not name %q:\n%s", want, notes)
			}
		}
		if got := i.configMap(edited)[editedKey]; got != mine {
			t.Errorf("the edited text is now %q", got)
		}
		i.wantData("an upgrade", params, pools, "# room by room\nzoneLabel: example.com/room")
		if mode := i.mode(release + "-kmm-module"); mode != "Disabled" {
			t.Errorf("the mode is %q", mode)
		}
	}

	i.upgrade("--set", "params."+pools+".agentNamespace=here", "--set", "policies.kmm-module.mode=Enforce")
	i.wantData("another param", params, pools, "agentNamespace: here\nzoneLabel: example.com/room")
	if mode := i.mode(release + "-kmm-module"); mode != "Enforce" {
		t.Errorf("a mode that is given newly counts, not %q", mode)
	}
	i.upgrade("--set", "params."+pools+".zoneLabel=example.com/hall")
	i.wantData("the same param", params, pools, "agentNamespace: here\nzoneLabel: example.com/hall")
	i.upgrade("--reset-values", "--set", "webhook.enabled=false", "--set", "params."+pools+".agentNamespace=here")
	i.wantData("a value that is taken away", params, pools, "agentNamespace: here")
}

var discard = regexp.MustCompile(`--set-string (policies\.agent-node-label\.discardEdit=[0-9a-f]{12})`)

// TestTwoTexts: when the chart or the values change a text that was edited, the
// upgrade is refused until somebody says which counts.
func TestTwoTexts(t *testing.T) {
	controlplane.RequireLong(t)
	i := newStore(t)
	i.install()
	shipped := i.configMap(edited)[editedKey]
	newer := filepath.Join(t.TempDir(), "edict")
	if err := os.CopyFS(newer, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(newer, "files", "policies", editedKey), []byte(shipped+"# newer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := i.change(newer); err != nil {
		t.Fatal(err)
	}
	i.wantData("a newer chart", edited, editedKey, shipped+"# newer")
	i.upgrade()
	i.wantData("the older chart", edited, editedKey, shipped)

	i.edit(edited, map[string]string{editedKey: shipped + "# mine\n"})
	_, err := i.change(newer)
	if err == nil || !strings.Contains(err.Error(), "was edited in the ConfigMap edict-system/edict-agent-node-label") {
		t.Fatalf("a newer chart and an edit: %v", err)
	}
	i.wantData("what was refused", edited, editedKey, shipped+"# mine")

	kept := filepath.Join(t.TempDir(), editedKey)
	if err := os.WriteFile(kept, []byte(shipped+"# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := i.change(newer, "--set-file", "policies.agent-node-label.text="+kept); err != nil {
		t.Fatal(err)
	}
	i.wantData("the edit as a value", edited, editedKey, shipped+"# mine")
	i.upgrade()
	i.wantData("the value with any chart", edited, editedKey, shipped+"# mine")

	i.edit(edited, map[string]string{editedKey: shipped + "# again\n"})
	_, err = i.change(chart, "--set", "policies.agent-node-label.text=")
	found := discard.FindStringSubmatch(err.Error())
	if found == nil {
		t.Fatalf("the error does not say how to drop the edit: %v", err)
	}
	i.upgrade("--set", "policies.agent-node-label.text=", "--set-string", found[1])
	i.wantData("the edit dropped", edited, editedKey, shipped)
	i.edit(edited, map[string]string{editedKey: shipped + "# a third\n"})
	if _, err = i.change(newer); err == nil {
		t.Error("what has dropped one edit drops the next one too")
	}
}

// TestExtraPolicies: a policy of one's own comes with the values, with its
// permissions and allowances.
func TestExtraPolicies(t *testing.T) {
	set := []string{
		"--set-file", "extraPolicies.mine.text=" + filepath.Join(root, "examples", "choosing", "policy.yaml"),
		"--set", "extraPolicies.mine.mode=Shadow",
		"--set", "extraPolicies.mine.extraRules[0].apiGroups={apps},extraPolicies.mine.extraRules[0].resources={deployments},extraPolicies.mine.extraRules[0].verbs={get}",
		"--set", "extraPolicies.mine.allowances[0].kind=Pod,extraPolicies.mine.allowances[0].fields={delete}",
		"--set", "extraPolicies.off.text=kind: Policy,extraPolicies.off.enabled=false",
	}
	list := objects(t, template(t, set...))
	configMap := find(list, "ConfigMap", release+"-mine")
	if configMap == nil || find(list, "ClusterRole", namespace+"-"+release+"-mine") == nil || find(list, "ClusterRoleBinding", namespace+"-"+release+"-mine") == nil {
		t.Fatal("the policy or its permissions are missing")
	}
	if configMap.GetLabels()["edict.dev/policy"] != "true" || configMap.GetAnnotations()["edict.dev/mode"] != "Shadow" {
		t.Errorf("%v %v", configMap.GetLabels(), configMap.GetAnnotations())
	}
	if find(list, "ConfigMap", release+"-off") != nil {
		t.Error("what is off is rendered")
	}
	var mine []string
	for _, a := range allowed(t, list) {
		if strings.Contains(a, `"policy":"mine"`) {
			mine = append(mine, a)
		}
	}
	want := []string{`{"fields":["delete"],"kind":"Pod","pinned":{"configMap":"` + release + `-mine"},"policy":"mine"}`}
	if diff := cmp.Diff(want, mine); diff != "" {
		t.Errorf("the allowances (-want +got):\n%s", diff)
	}
}
