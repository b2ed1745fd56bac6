package main

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/run/configmap"
)

// holdingNodes is a policy that gives Nodes a finalizer.
func holdingNodes(name string) string {
	return strings.Replace(marking(name, "old"), "do: [", "do: [{finalizer: {name: example.com/"+name+"}}, ", 1)
}

// TestWhatIsAllowed: commands that look at the policies of a cluster know its allowances,
// and say for which edits the controller would refuse a policy.
func TestWhatIsAllowed(t *testing.T) {
	t.Parallel()
	text := configmap.Of(&small().configMaps[0])
	text.Data["one.yaml"] = holdingNodes("one")
	digest := text.Read().Units[0].Digest()
	const refused = "the policy one may not write metadata.finalizers of Node; the installation can allow it"
	for name, tc := range map[string]struct {
		allow, edit    string
		stdout, stderr string
	}{
		"nothing is known":  {"", holdingNodes("one"), "not decided: one a: rule \"mark\": " + refused, ""},
		"allowed":           {"{policy: one, apiGroup: '', kind: Node, fields: [metadata.finalizers]}", holdingNodes("one"), "metadata.finalizers", ""},
		"not allowed":       {"{policy: two, apiGroup: '', kind: Node, fields: [metadata.finalizers]}", holdingNodes("one"), "not decided: one a: rule \"mark\": " + refused, "edict: the controller would refuse the policy one: it lacks allowances\n"},
		"another ConfigMap": {"{policy: one, apiGroup: '', kind: Node, fields: [metadata.finalizers], pinned: {configMap: other}}", holdingNodes("one"), "not decided", "it holds for the policy of the ConfigMap other, this one is of policies"},
		"the pinned text":   {"{policy: one, apiGroup: '', kind: Node, fields: [metadata.finalizers], pinned: {configMap: policies, text: '" + digest + "'}}", holdingNodes("one"), "metadata.finalizers", ""},
		"unreadable":        {"{plicy: one}", holdingNodes("one"), "not decided", "edict: what the installation allows is not known, so what runs in Pods is taken as allowed: the allowances in the ConfigMap edict-system/allowances cannot be read"},
		"a changed text":    {"{policy: one, apiGroup: '', kind: Node, fields: [metadata.finalizers], pinned: {configMap: policies, text: '" + digest + "'}}", holdingNodes("one") + "\n", "not decided", "the installation has to allow a changed text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := small()
			if tc.allow != "" {
				shown := installed("allowances", map[string]string{"allowances.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: a}\nspec: {allow: [" + tc.allow + ", {policy: one, kind: Node, fields: [metadata.labels]}, {policy: two, kind: Node, fields: [metadata.labels]}]}\n"})
				shown.Labels = map[string]string{v1alpha1.LabelAllowances: "true"}
				cluster.configMaps = append(cluster.configMaps, shown)
			}
			file := writeFile(t, t.TempDir(), "edit.yaml", tc.edit)
			got := program(t, "plan", "--policies", file, "--policy-namespace", "edict-system", "--kubeconfig", cluster.start(t))
			if !strings.Contains(got.stdout, tc.stdout) || !strings.Contains(got.stderr, tc.stderr) || (tc.stderr == "") != (got.stderr == "") {
				t.Errorf("exit code %d, want %q and %q:\n%s%s", got.code, tc.stdout, tc.stderr, got.stdout, got.stderr)
			}
		})
	}
}
