package chart

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWithoutCRD installs, upgrades and removes the release while the cluster has no CRD of PolicySets,
// or an old one.
func TestWithoutCRD(t *testing.T) {
	i := newInstallation(t, release+"-webhook")
	tools := i.tools()
	const apply = "edict crd | kubectl apply --server-side --force-conflicts -f - >/dev/null"
	if _, err := i.tryHelm("install", release, chart, "--skip-crds"); err == nil || !strings.Contains(err.Error(), `no matches for kind "PolicySet"`) {
		t.Fatalf("helm install with sets: %v", err)
	}
	install := []string{"install", release, chart, "--skip-crds", "--set", "defaultMode=Enforce,webhook.failurePolicy=Fail,webhook.url=https://localhost:" + i.port + "/validate"}
	for _, set := range shipped(t) {
		install = append(install, "--set", "policies."+set+".enabled=false")
	}
	i.helm(install...)

	i.eventually("the log", func(context.Context) string {
		if logs := i.pods.Logs(); !strings.Contains(logs, "edict crd | kubectl apply --server-side --force-conflicts -f -") {
			return logs
		}
		return ""
	})
	before := i.readyPods(t.Context())
	if len(before) != 2 || slices.Contains(slices.Collect(maps.Values(before)), true) {
		t.Errorf("without the CRD the Pods that are ready are %v", before)
	}
	i.eventually("a ConfigMap that no set refers to", func(ctx context.Context) string {
		free := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "free"}, Data: map[string]string{"free.yaml": "text"}}
		if _, err := i.client.CoreV1().ConfigMaps(namespace).Create(ctx, free, metav1.CreateOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
	i.runs(tools, command{line: apply})
	i.eventually("ready Pods", func(ctx context.Context) string {
		after := i.readyPods(ctx)
		if ready := slices.Contains(slices.Collect(maps.Values(after)), true); !ready || !slices.Equal(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))) {
			return fmt.Sprintf("%v, before %v", after, before)
		}
		return ""
	})
	i.deploy("upgrade", "policies.agent-node-label.enabled=true")
	i.wantReady("agent-node-label", "Enforcing", "")

	i.runs(tools, command{line: "kubectl annotate crd policysets.edict.dev edict.dev/crd-version- >/dev/null"})
	i.wantRestartSafe("agent-node-label", "CRDOutdated")
	i.runs(tools, command{line: apply})
	i.wantRestartSafe("agent-node-label", "")

	installed := objects(t, i.helm("get", "manifest", release))
	i.runs(tools, command{line: "kubectl delete crd policysets.edict.dev --timeout=60s >/dev/null"})
	i.helm("uninstall", release, "--wait", "--timeout", "2m")
	i.wantNothing(slices.DeleteFunc(installed, func(o *object) bool { return o.GetKind() == "PolicySet" }))
}

// readyPods reports by name whether the Pods of the controller are ready.
func (i *installation) readyPods(ctx context.Context) map[string]bool {
	i.t.Helper()
	list, err := i.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	out := map[string]bool{}
	for _, p := range list.Items {
		out[p.Name] = slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	}
	return out
}

// wantRestartSafe waits until the condition RestartSafe of a set has a reason; empty if there is to be none.
func (i *installation) wantRestartSafe(set, reason string) {
	i.t.Helper()
	i.eventually("the condition RestartSafe of "+set, func(ctx context.Context) string {
		got, problem := i.condition(ctx, set, "RestartSafe")
		if got.Reason == reason && (reason == "") == strings.Contains(problem, "no condition") {
			return ""
		}
		return "want " + reason + ", got " + got.Reason + " " + problem
	})
}
