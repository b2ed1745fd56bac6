package chart

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// TestLifecycle installs the chart, changes it, takes the change back and
// removes it, while its Pods run with the permissions that it grants.
func TestLifecycle(t *testing.T) {
	i := newInstallation(t, release+"-webhook")
	i.put("storage.yaml")
	set := append(i.extender(), "policies.kmm-node-entries.enabled=false", "policies.kmm-module-finalizer.enabled=false", "policies.kmm-node-modules.enabled=false")
	notes := i.deploy("install", set...)
	for _, want := range []string{"The namespace shipshape does not exist", "\n  configmap-restart (Enforce)\n", "kubectl get policysets -n edict-system"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, notes)
		}
	}
	for _, policy := range []string{"agent-node-label", "storage-pool-eligibility", "replica-scheduling", "kmm-version-labels"} {
		i.wantReady(policy, "Enforcing", "")
	}
	i.wantReady("configmap-restart", "Waiting", "shipshape")
	i.wantNoted(notes)
	i.wantPool("node-a zone-a")
	i.wantPlaced("orders-0", "node-a")

	i.tune()
	i.replaceLeader()
	i.changeSelector()
	i.switchOnAndBack()
	i.uninstall()
}

// tune changes a param as an operator would; what could not run is refused.
func (i *installation) tune() {
	i.t.Helper()
	zone := func(label string) string {
		return `{"params":{"storage-pool-eligibility":{"zoneLabel":"` + label + `"}}}`
	}
	i.editSet(pools, zone("example.com/room"))
	i.wantPool("node-a room-1")
	i.editSet(pools, zone(""))
	i.wantReady(pools, "LastGoodEnforced", "zoneLabel")
	i.editSet(pools, zone("example.com/room"))
	i.wantReady(pools, "Enforcing", "")
	i.wantTextRefused(release + "-agent-node-label")
}

// replaceLeader deletes the Pod that leads; another takes over at once.
func (i *installation) replaceLeader() {
	i.t.Helper()
	leader := func(ctx context.Context) string {
		lease, err := i.client.CoordinationV1().Leases(namespace).Get(ctx, release, metav1.GetOptions{})
		if err != nil {
			i.t.Fatal(err)
		}
		return *lease.Spec.HolderIdentity
	}
	first := leader(i.t.Context())
	if err := i.client.CoreV1().Pods(namespace).Delete(i.t.Context(), first, metav1.DeleteOptions{}); err != nil {
		i.t.Fatal(err)
	}
	i.eventually("another leader", func(ctx context.Context) string {
		if now := leader(ctx); now == first || now == "" {
			return fmt.Sprintf("%q leads", now)
		}
		return ""
	})
	i.editSet(pools, `{"params":{"storage-pool-eligibility":{"zoneLabel":"example.com/hall"}}}`)
	i.wantPool("node-a hall-1")
}

// changeSelector upgrades to a selector, slowly, is refused a text that is none, and goes back: all
// the time one Lease says who leads, and nobody does for less than its duration.
func (i *installation) changeSelector() {
	i.t.Helper()
	leases := i.client.CoordinationV1().Leases(namespace)
	seen, err := leases.Watch(i.t.Context(), metav1.ListOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	var renewed time.Time
	var gaps sync.WaitGroup
	gaps.Go(func() {
		for event := range seen.ResultChan() {
			lease, ok := event.Object.(*coordinationv1.Lease)
			if !ok {
				return // the watch ends with an error
			}
			if lease.Name != release {
				i.t.Errorf("there is another Lease: %s", lease.Name)
			}
			if ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
				continue
			}
			if without := lease.Spec.RenewTime.Sub(renewed); !renewed.IsZero() && without > 15*time.Second {
				i.t.Errorf("nobody led for %v before %v", without, lease.Spec.RenewTime)
			}
			renewed = lease.Spec.RenewTime.Time
		}
	})
	// The Pods of before go on for as long as those of after have to be ready.
	slow := []byte(`{"spec":{"minReadySeconds":5}}`)
	if _, err := i.client.AppsV1().Deployments(namespace).Patch(i.t.Context(), release, types.MergePatchType, slow, metav1.PatchOptions{}); err != nil {
		i.t.Fatal(err)
	}
	i.deploy("upgrade", "watchLabelSelector=shard!=a")
	if _, err := i.tryHelm("upgrade", release, chart, "--reuse-values", "--set", "watchLabelSelector=shard notin a"); err == nil || !strings.Contains(err.Error(), "is not a label selector") {
		i.t.Errorf("an upgrade to what is no selector: %v", err)
	}
	i.deploy("upgrade", "watchLabelSelector=")
	i.eventually("a leader", func(ctx context.Context) string {
		if lease, err := leases.Get(ctx, release, metav1.GetOptions{}); err != nil || ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
			return fmt.Sprint("nobody leads: ", err)
		}
		return ""
	})
	seen.Stop()
	gaps.Wait()
	if renewed.IsZero() {
		i.t.Error("the Lease was not seen")
	}
}

// switchOnAndBack upgrades to more policies and rolls back. An upgrade leaves
// alone what an operator has edited; a rollback takes it back.
func (i *installation) switchOnAndBack() {
	i.t.Helper()
	shipped := i.configMap(release + "-" + edited)[editedKey]
	i.edit(edited, map[string]string{editedKey: shipped + "# edited\n"})
	i.namespace("shipshape")
	i.deploy("upgrade", "policies.kmm-node-entries.enabled=true", "policies.kmm-module-finalizer.enabled=true", "policies.kmm-node-modules.enabled=true", "params.kmm-node-modules.workerImage=worker:1", "policies.secret-restart.enabled=true")
	all := []string{
		"agent-node-label", "configmap-restart", "kmm-module-finalizer", "kmm-node-entries", "kmm-node-modules",
		"kmm-version-labels", "replica-scheduling", "secret-restart", "storage-pool-eligibility",
	}
	for _, policy := range all {
		i.wantReady(policy, "Enforcing", "")
	}
	i.wantPool("node-a hall-1")
	i.wantText("after an upgrade", edited, shipped+"# edited\n")

	i.helm("rollback", release, "1", "--wait", "--timeout", "2m")
	i.gone("ConfigMap", release+"-kmm-node-entries")
	// Their permissions are gone with them: what the controller had not released by
	// then is released as the caller.
	gone := []string{"kmm-module-finalizer", "kmm-node-entries", "kmm-node-modules"}
	for _, set := range gone {
		i.runs(i.tools(), command{line: "edict release " + set + " -n " + namespace + " || true"})
	}
	i.eventually("the sets are gone", func(context.Context) string {
		left := slices.DeleteFunc(i.installed(), func(name string) bool { return !slices.Contains(gone, name) })
		return strings.Join(left, ", ")
	})
	i.wantText("after a rollback", edited, shipped)
	i.wantPool("node-a zone-a")
	i.wantReady("agent-node-label", "Enforcing", "")
}

// uninstall removes the release; nothing that a Module carries may keep it from
// being deleted.
func (i *installation) uninstall() {
	i.t.Helper()
	i.deploy("upgrade", "policies.kmm-node-entries.enabled=true", "policies.kmm-module-finalizer.enabled=true", "policies.kmm-node-modules.enabled=true", "params.kmm-node-modules.workerImage=worker:1")
	i.wantReady("kmm-module-finalizer", "Enforcing", "")
	i.put("module.yaml")
	finalizers := func(ctx context.Context) []string {
		api, err := i.api(&object{Object: map[string]any{"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", "metadata": map[string]any{"namespace": "default"}}})
		if err != nil {
			i.t.Fatal(err)
		}
		found, err := api.Get(ctx, "driver", metav1.GetOptions{})
		if err != nil {
			i.t.Fatal(err)
		}
		return found.GetFinalizers()
	}
	i.eventually("the finalizer of a Module", func(ctx context.Context) string {
		if len(finalizers(ctx)) == 0 {
			return "it has none"
		}
		return ""
	})
	installed := objects(i.t, i.helm("get", "manifest", release))
	i.helm("uninstall", release, "--wait", "--timeout", "2m")
	if left := finalizers(i.t.Context()); len(left) > 0 {
		i.t.Errorf("the Module still carries %v", left)
	}
	made := func(version schema.GroupVersion, kind, name string) *object {
		return &object{Object: map[string]any{
			"apiVersion": version.String(), "kind": kind, "metadata": map[string]any{"name": name, "namespace": namespace},
		}}
	}
	i.wantNothing(append(installed,
		made(coordinationv1.SchemeGroupVersion, "Lease", release),
		made(batchv1.SchemeGroupVersion, "Job", release+"-release"),
		made(corev1.SchemeGroupVersion, "ServiceAccount", release+"-release"),
		made(rbacv1.SchemeGroupVersion, "Role", release+"-release")))
}
