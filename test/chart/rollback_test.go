package chart

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/test/controlplane"
)

// data returns what all ConfigMaps of the release hold, and the modes. What the
// brakes know is nothing of the release's.
func (i *installation) data() map[string]map[string]string {
	i.t.Helper()
	list, err := i.client.CoreV1().ConfigMaps(namespace).List(i.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=edict,!edict.dev/brakes"})
	if err != nil {
		i.t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, one := range list.Items {
		out[one.Name] = one.Data
		one.Data["mode"] = one.Annotations["edict.dev/mode"]
	}
	return out
}

func (i *installation) wantBack(what string, want map[string]map[string]string) {
	i.t.Helper()
	if diff := cmp.Diff(want, i.data()); diff != "" {
		i.t.Errorf("%s (- as it was, + now):\n%s", what, diff)
	}
}

// TestRollbackBringsBackWhatWas, also what nobody gave as a value, and after an
// upgrade that failed halfway.
func TestRollbackBringsBackWhatWas(t *testing.T) {
	controlplane.RequireLong(t)
	i := newStore(t)
	i.install()
	first := i.data()
	i.edit(params, map[string]string{pools: "agentNamespace: edited\n"})
	i.edit(edited, map[string]string{editedKey: first[edited][editedKey] + "# edited\n"})
	i.setMode(edited, "Disabled")
	i.upgrade("--set", "workers=11")
	second := i.data()

	fail := func() {
		t.Helper()
		// The ConfigMaps are written when the API server refuses the Deployment.
		_, err := i.change(chart, "--set", "resources.limits.cpu=lots", "--set", "params."+pools+".agentNamespace=typo",
			"--set", "params.configmap-restart.debounce=9s", "--set", "policies.secret-restart.enabled=true")
		if err == nil {
			t.Fatal("the upgrade was to fail")
		}
		i.wantData("halfway", params, pools, "agentNamespace: typo")
	}
	fail() // revision 3
	i.helm("rollback", release)
	i.wantBack("after one upgrade that failed", second)
	fail() // revision 5
	fail()
	i.helm("rollback", release, "2")
	i.wantBack("after two", second)
	fail()
	i.edit(params, map[string]string{pools: "agentNamespace: despair\n", "kmm-version-labels": "module: x\n"})
	i.helm("rollback", release, "1")
	i.wantBack("the first revision", first)
	i.edit(params, map[string]string{pools: "agentNamespace: despair\n"})
	i.helm("rollback", release, "2")
	i.wantBack("forward again", second)
}
