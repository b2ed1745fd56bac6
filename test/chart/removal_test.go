package chart

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	i.wantStatus("agent-node-label", "Active", "")
	i.wantAlone()

	api := i.client.CoreV1().ConfigMaps(namespace)
	unreadable := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: map[string]string{"edict.dev/policy": "true"}}, Data: map[string]string{"mine.yaml": "]"}}
	if _, err := api.Create(t.Context(), unreadable, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := i.tryHelm("uninstall", release, "--timeout", "2m"); err == nil {
		t.Fatal("the chart is gone although something was left behind")
	}
	if want := namespace + "/mine/mine.yaml: not released: "; !strings.Contains(i.pods.Logs(), want) {
		t.Errorf("the Job does not say %q:\n%s", want, i.pods.Logs())
	}
	i.wantStatus("agent-node-label", "Disabled", "")
	if err := api.Delete(t.Context(), "mine", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	i.helm("rollback", release, "1", "--wait", "--timeout", "2m")
	i.wantStatus("agent-node-label", "Active", "")

	i.deploy("upgrade", "policies.agent-node-label.enabled=false")
	installed := objects(t, i.helm("get", "manifest", release))
	i.helm("uninstall", release, "--wait", "--timeout", "2m")
	i.wantNothing(installed)
}

// wantAlone tries to install the chart a second time: not beside the first, and
// in another namespace only with policies that the first does not enforce.
func (i *installation) wantAlone() {
	i.t.Helper()
	arguments := []string{"install", "second", chart, "--set", "replicas=1,defaultMode=Enforce", "--kubeconfig", i.plane.Kubeconfig(), "--namespace"}
	_, err := helm(i.t, append(arguments, namespace)...)
	if want := "the release edict is in the namespace edict-system already"; err == nil || !strings.Contains(err.Error(), want) {
		i.t.Errorf("a second release: %v, want %q", err, want)
	}
	i.namespace("elsewhere")
	_, err = helm(i.t, append(arguments, "elsewhere")...)
	if want := "the release edict-system/edict enforces agent-node-label already"; err == nil || !strings.Contains(err.Error(), want) {
		i.t.Errorf("a second release with the same policy: %v, want %q", err, want)
	}
	for _, set := range []string{"defaultMode=Shadow", "policies.agent-node-label.enabled=false"} {
		if _, err := helm(i.t, append(arguments, "elsewhere", "--set", set)...); err != nil {
			i.t.Errorf("a second release in another namespace with %s: %v", set, err)
		}
		if _, err := helm(i.t, "uninstall", "second", "--no-hooks", "--kubeconfig", i.plane.Kubeconfig(), "--namespace", "elsewhere"); err != nil {
			i.t.Error(err)
		}
	}
}
