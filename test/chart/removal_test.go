package chart

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/test/controlplane"
)

// TestRemovalThatFails: what cannot be released keeps the chart installed, and a
// rollback brings the policies back. Where there is nothing to release, the
// chart goes.
func TestRemovalThatFails(t *testing.T) {
	controlplane.RequireLong(t)
	i := newInstallation(t, release+"-webhook")
	set := []string{"webhook.enabled=false", "replicas=1", "release.activeDeadlineSeconds=8"}
	for name := range texts(t, filepath.Join(chart, "files", "rbac")) {
		if policy := strings.TrimSuffix(name, ".yaml"); policy != "agent-node-label" {
			set = append(set, "policies."+policy+".enabled=false")
		}
	}
	i.deploy("install", set...)
	if found, err := i.client.AppsV1().Deployments(namespace).Get(t.Context(), release, metav1.GetOptions{}); err != nil || found.Status.ReadyReplicas != 1 {
		t.Errorf("helm has not waited for the only Pod (%v)", err)
	}
	i.wantReady("agent-node-label", "Enforcing", "")

	// What holds a set is gone only after the Job has given up.
	mine := guarded(t, "mine", "{mode: Shadow, pinned: true}")
	mine.SetFinalizers([]string{"example.com/hold"})
	if _, err := i.sets("", namespace).Create(t.Context(), mine, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := i.tryHelm("uninstall", release, "--timeout", "2m"); err == nil {
		t.Fatal("the chart is gone although something was left behind")
	}
	if want := namespace + "/mine"; !strings.Contains(i.pods.Logs(), want) {
		t.Errorf("the Job does not say %q:\n%s", want, i.pods.Logs())
	}
	if _, err := i.sets("", namespace).Patch(t.Context(), "mine", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	i.helm("rollback", release, "1", "--wait", "--timeout", "2m")
	i.wantReady("agent-node-label", "Enforcing", "")

	i.deploy("upgrade", "policies.agent-node-label.enabled=false")
	installed := objects(t, i.helm("get", "manifest", release))
	i.helm("uninstall", release, "--wait", "--timeout", "2m")
	i.wantNothing(installed)
}

// TestSecondRelease: the chart is not installed beside itself, and in another namespace only with
// policies that the first release does not enforce.
func TestSecondRelease(t *testing.T) {
	i := newStore(t)
	i.helm("install", release, chart, "--set", "webhook.enabled=false")
	i.editSet("agent-node-label", `{"mode":"Enforce"}`) // as operators do
	i.upgrade()
	arguments := []string{"install", "second", chart, "--set", "replicas=1,defaultMode=Enforce,webhook.enabled=false", "--kubeconfig", i.plane.Kubeconfig(), "--namespace"}
	_, err := helm(t, append(arguments, namespace)...)
	if want := "the release edict is in the namespace edict-system already"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a second release: %v, want %q", err, want)
	}
	i.namespace("elsewhere")
	_, err = helm(t, append(arguments, "elsewhere")...)
	if want := "the release edict-system/edict enforces agent-node-label already"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a second release with the same policy: %v, want %q", err, want)
	}
	for _, set := range []string{"defaultMode=Shadow", "policies.agent-node-label.enabled=false"} {
		if _, err := helm(t, append(arguments, "elsewhere", "--set", set)...); err != nil {
			t.Errorf("a second release in another namespace with %s: %v", set, err)
		}
		if _, err := helm(t, "uninstall", "second", "--no-hooks", "--kubeconfig", i.plane.Kubeconfig(), "--namespace", "elsewhere"); err != nil {
			t.Error(err)
		}
	}
}
