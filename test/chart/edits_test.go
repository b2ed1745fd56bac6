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
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/test/controlplane"
)

const (
	edited    = "agent-node-label" // a set whose text is edited
	editedKey = "agent-node-label.yaml"
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

// edit edits the text of a set, as kubectl edit does.
func (i *installation) edit(set string, data map[string]string) {
	i.t.Helper()
	if err := i.editConfigMap(release+"-"+set, data); err != nil {
		i.t.Fatal(err)
	}
}

// editSet writes a merge patch of the spec of a PolicySet, as kubectl patch does.
func (i *installation) editSet(name, spec string) {
	i.t.Helper()
	if err := i.tryEditSet(name, spec); err != nil {
		i.t.Fatal(err)
	}
}

func (i *installation) tryEditSet(name, spec string) error {
	_, err := i.sets("", namespace).Patch(i.t.Context(), name, types.MergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
	return err
}

// wantSpec compares fields of the spec of a PolicySet, given as YAML; null is a field that is missing.
func (i *installation) wantSpec(what, name, want string) {
	i.t.Helper()
	fields, got := map[string]any{}, map[string]any{}
	if err := yaml.Unmarshal([]byte(want), &fields); err != nil {
		i.t.Fatal(err)
	}
	spec := i.set(name).Object["spec"].(map[string]any)
	for field := range fields {
		got[field] = spec[field]
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		i.t.Errorf("%s: the spec of %s (- want, + have):\n%s", what, name, diff)
	}
}

// set reads a PolicySet.
func (i *installation) set(name string) *object {
	i.t.Helper()
	found, err := i.sets("", namespace).Get(i.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return found
}

func (i *installation) wantText(what, set, want string) {
	i.t.Helper()
	if diff := cmp.Diff(want, i.configMap(release + "-" + set)[set+".yaml"]); diff != "" {
		i.t.Errorf("%s: the text of %s (- want, + have):\n%s", what, set, diff)
	}
}

// TestUpgradeLeavesEditsAlone: what was edited with kubectl stays as long as the
// chart and the values say what they said before.
func TestUpgradeLeavesEditsAlone(t *testing.T) {
	i := newStore(t)
	i.install()
	shipped := i.configMap(release + "-" + edited)[editedKey]
	mine := "# \t<edited> & \"quoted\", größer  \n" + shipped
	i.edit(edited, map[string]string{editedKey: mine})
	i.editSet(pools, `{"params":{"storage-pool-eligibility":{"zoneLabel":"example.com/room"}},"mode":"Enforce"}`)
	i.editSet("kmm-node-entries", `{"mode":"Disabled","suspend":true,"holds":[{"name":"h","reason":"r","until":"2036-12-01T08:00:00Z"}]}`)

	for range 2 { // what stays must stay again
		notes := i.upgrade("--set", "workers=11")
		for _, want := range []string{edited + ": the text", "kmm-node-entries: mode, suspend", pools + ": mode, the params of " + pools, "kmm-node-entries (Disabled, suspended)"} {
			if !strings.Contains(notes, want) {
				t.Errorf("the notes do not name %q:\n%s", want, notes)
			}
		}
		i.wantText("an upgrade", edited, mine)
		i.wantSpec("an upgrade", pools, "{params: {storage-pool-eligibility: {zoneLabel: example.com/room}}, mode: Enforce, suspend: null}")
		i.wantSpec("an upgrade", "kmm-node-entries", `{mode: Disabled, suspend: true, params: null, holds: [{name: h, reason: r, until: "2036-12-01T08:00:00Z"}]}`)
	}

	i.upgrade("--set", "params."+pools+".agentNamespace=here", "--set", "policies.kmm-node-entries.mode=Enforce,policies.kmm-node-entries.suspend=false")
	i.wantSpec("another param", pools, "{params: {storage-pool-eligibility: {zoneLabel: example.com/room, agentNamespace: here}}, mode: Enforce}")
	i.wantSpec("a mode that is given newly", "kmm-node-entries", "{mode: Enforce, suspend: false}")
	i.upgrade("--set", "params."+pools+".zoneLabel=example.com/hall")
	i.wantSpec("the same param", pools, "{params: {storage-pool-eligibility: {zoneLabel: example.com/hall, agentNamespace: here}}}")

	reset := []string{"--reset-values", "--set", "webhook.enabled=false", "--set", "params." + pools + ".agentNamespace=here"}
	if _, err := i.change(chart, reset...); err == nil || !strings.Contains(err.Error(), "the PolicySet edict-system/kmm-node-entries has the mode Enforce, and would get Shadow") {
		t.Errorf("values that are forgotten take a policy out of force: %v", err)
	}
	i.upgrade(append(reset, "--set", "policies.kmm-node-entries.mode=Shadow")...)
	i.wantSpec("a value that is taken away", pools, "{params: {storage-pool-eligibility: {agentNamespace: here}}, mode: Enforce}")
	i.wantSpec("a mode that is asked for", "kmm-node-entries", "{mode: Shadow, suspend: null}")
}

// TestADigestThatWasSet: a set that was rolled back to an earlier text keeps it, until the chart
// or the values have another one; a set that is pinned runs the text of the chart, whatever
// stands in its ConfigMap.
func TestADigestThatWasSet(t *testing.T) {
	i := newStore(t)
	i.install()
	const earlier = "sha256:0123456789ab0123456789ab0123456789ab0123456789ab0123456789ab0123"
	i.editSet(edited, `{"source":{"digest":"`+earlier+`"}}`)
	if notes := i.upgrade("--set", "workers=11"); !strings.Contains(notes, edited+": source.digest") {
		t.Errorf("the notes do not name the digest:\n%s", notes)
	}
	i.wantSpec("an upgrade", edited, "source: {configMap: {name: edict-agent-node-label}, digest: "+earlier+"}")

	file := filepath.Join(t.TempDir(), editedKey)
	if err := os.WriteFile(file, []byte(i.configMap(release + "-" + edited)[editedKey]+"# newer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := []string{"--set-file", "policies." + edited + ".text=" + file}
	if _, err := i.change(chart, newer...); err == nil || !strings.Contains(err.Error(), "--set-string policies.agent-node-label.discardEdit=0123456789ab") {
		t.Errorf("a text that would not run: %v", err)
	}
	i.upgrade(append(newer, "--set-string", "policies.agent-node-label.discardEdit=0123456789ab")...)
	i.wantSpec("the digest dropped", edited, "source: {configMap: {name: edict-agent-node-label}}")

	const pinned = "kmm-node-entries"
	before, text := i.set(pinned).Object["spec"], i.configMap(release + "-" + pinned)[pinned+".yaml"]
	i.edit(pinned, map[string]string{pinned + ".yaml": text + "# mine\n"})
	i.upgrade("--set", "workers=12")
	i.wantText("an upgrade", pinned, text+"# mine\n")
	if diff := cmp.Diff(before, i.set(pinned).Object["spec"]); diff != "" {
		t.Errorf("an edit of the ConfigMap of a pinned set has changed its spec:\n%s", diff)
	}
}

var discard = regexp.MustCompile(`--set-string (policies\.agent-node-label\.discardEdit=[0-9a-f]{12})`)

// TestTwoTexts: when the chart or the values change a text that was edited, the
// upgrade is refused until somebody says which counts.
func TestTwoTexts(t *testing.T) {
	controlplane.RequireLong(t)
	i := newStore(t)
	i.install()
	shipped := i.configMap(release + "-" + edited)[editedKey]
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
	i.wantText("a newer chart", edited, shipped+"# newer\n")
	i.upgrade()
	i.wantText("the older chart", edited, shipped)

	i.edit(edited, map[string]string{editedKey: shipped + "# mine\n"})
	_, err := i.change(newer)
	if err == nil || !strings.Contains(err.Error(), "was edited in the ConfigMap edict-system/edict-agent-node-label") {
		t.Fatalf("a newer chart and an edit: %v", err)
	}
	i.wantText("what was refused", edited, shipped+"# mine\n")

	kept := filepath.Join(t.TempDir(), editedKey)
	if err := os.WriteFile(kept, []byte(shipped+"# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := i.change(newer, "--set-file", "policies.agent-node-label.text="+kept); err != nil {
		t.Fatal(err)
	}
	i.wantText("the edit as a value", edited, shipped+"# mine\n")
	i.upgrade()
	i.wantText("the value with any chart", edited, shipped+"# mine\n")

	i.edit(edited, map[string]string{editedKey: shipped + "# again\n"})
	_, err = i.change(chart, "--set", "policies.agent-node-label.text=")
	found := discard.FindStringSubmatch(err.Error())
	if found == nil {
		t.Fatalf("the error does not say how to drop the edit: %v", err)
	}
	i.upgrade("--set", "policies.agent-node-label.text=", "--set-string", found[1])
	i.wantText("the edit dropped", edited, shipped)
	i.edit(edited, map[string]string{editedKey: shipped + "# a third\n"})
	if _, err = i.change(newer); err == nil {
		t.Error("what has dropped one edit drops the next one too")
	}
}
