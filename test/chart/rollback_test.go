package chart

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/test/controlplane"
)

// data returns the texts and the specs of all sets of the release.
func (i *installation) data() map[string]any {
	i.t.Helper()
	list, err := i.sets("", namespace).List(i.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=edict"})
	if err != nil {
		i.t.Fatal(err)
	}
	out := map[string]any{}
	for _, one := range list.Items {
		out[one.GetName()] = map[string]any{"text": i.configMap(release + "-" + one.GetName()), "spec": one.Object["spec"]}
	}
	return out
}

func (i *installation) wantBack(what string, want map[string]any) {
	i.t.Helper()
	if diff := cmp.Diff(want, i.data()); diff != "" {
		i.t.Errorf("%s (- as it was, + now):\n%s", what, diff)
	}
}

// TestRollbackBringsBackWhatWas, also what nobody gave as a value, and after an
// upgrade that failed halfway. Fields of a spec that neither revision has stay: helm sends
// what differs between the two.
func TestRollbackBringsBackWhatWas(t *testing.T) {
	controlplane.RequireLong(t)
	i := newStore(t)
	i.install()
	first := i.data()
	shipped := i.configMap(release + "-" + edited)[editedKey]
	param := func(name, value string) {
		t.Helper()
		i.editSet(pools, `{"params":{"storage-pool-eligibility":{"`+name+`":"`+value+`"}}}`)
	}
	param("agentNamespace", "edited")
	i.edit(edited, map[string]string{editedKey: shipped + "# edited\n"})
	i.editSet(edited, `{"mode":"Disabled"}`)
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
	}
	fail() // revision 3
	i.helm("rollback", release)
	i.wantBack("after one upgrade that failed", second)
	fail() // revision 5
	fail()
	i.helm("rollback", release, "2")
	i.wantBack("after two", second)
	fail()
	param("agentNamespace", "despair")
	i.edit(edited, map[string]string{editedKey: shipped + "# despair\n"})
	i.helm("rollback", release, "1")
	i.wantBack("the first revision", first)
	i.edit(edited, map[string]string{editedKey: shipped + "# despair\n"})
	param("agentNamespace", "despair")
	i.editSet("configmap-restart", `{"suspend":true}`)
	i.helm("rollback", release, "2")
	i.wantSpec("what no revision says", "configmap-restart", "suspend: true")
	i.editSet("configmap-restart", `{"suspend":null}`)
	i.wantBack("forward again", second)
}
