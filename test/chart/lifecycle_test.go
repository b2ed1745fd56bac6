package chart

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/test/extender"
)

// TestLifecycle installs the chart, changes it, takes the change back and
// removes it, while its Pods run with the permissions that it grants.
func TestLifecycle(t *testing.T) {
	i := newInstallation(t)
	i.put(storage)
	set := append(i.extender(), "policies.kmm-module.enabled=false", "policies.kmm-node-modules.enabled=false")
	notes := i.deploy("install", set...)
	for _, want := range []string{"The namespace shipshape does not exist", "\n  configmap-restart\n", "kubectl -n edict-system get configmap -l edict.dev/policy"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, notes)
		}
	}
	for _, policy := range []string{"agent-node-label", "storage-pool-eligibility", "replica-scheduling", "kmm-version-labels"} {
		i.wantStatus(policy, "Active", "")
	}
	i.wantStatus("configmap-restart", "Waiting", "")
	i.wantPool("node-a zone-a")
	i.wantPlaced("orders-0", "node-a")
	i.wantPermissions("agent-node-label", "storage-pool-eligibility", "replica-scheduling", "kmm-version-labels", "configmap-restart")

	i.tune()
	i.switchOnAndBack()
	i.remove()
}

// tune changes a param as an operator would; what could not run is refused.
func (i *installation) tune() {
	i.t.Helper()
	if err := i.editConfigMap(release+"-params", map[string]string{"storage-pool-eligibility": "zoneLabel: example.com/room\n"}); err != nil {
		i.t.Fatal(err)
	}
	i.wantPool("node-a room-1")
	i.wantRefused(release+"-params", map[string]string{"storage-pool-eligibility": "zoneLabel: ''\n"}, "zoneLabel")
	i.wantRefused(release+"-agent-node-label", map[string]string{"agent-node-label.yaml": "kind: Policy\n"}, "agent-node-label.yaml:1:1")
}

// wantRefused waits until an edit is refused by the webhook: the API server
// hears of its authority a moment after the Pods are ready.
func (i *installation) wantRefused(name string, data map[string]string, want string) {
	i.t.Helper()
	before, err := i.client.CoreV1().ConfigMaps(namespace).Get(i.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	i.eventually("the refusal of an edit of "+name, func(context.Context) string {
		err := i.editConfigMap(name, data)
		switch {
		case err == nil:
			if err := i.editConfigMap(name, before.Data); err != nil {
				i.t.Fatal(err)
			}
			return "it was taken"
		case !strings.Contains(err.Error(), ".edict.dev") || !strings.Contains(err.Error(), want):
			return err.Error()
		}
		return ""
	})
}

// switchOnAndBack upgrades to more policies and rolls back.
func (i *installation) switchOnAndBack() {
	i.t.Helper()
	i.namespace("shipshape")
	i.deploy("upgrade", "policies.kmm-module.enabled=true", "policies.kmm-node-modules.enabled=true")
	for _, policy := range []string{"kmm-module", "kmm-node-modules", "configmap-restart", "storage-pool-eligibility"} {
		i.wantStatus(policy, "Active", "")
	}
	i.wantPermissions("agent-node-label", "storage-pool-eligibility", "replica-scheduling", "kmm-version-labels", "configmap-restart", "kmm-module", "kmm-node-modules")
	i.wantPool("node-a room-1") // the edit of a param that no value says outlives an upgrade

	i.helm("rollback", release, "1", "--wait", "--timeout", "2m")
	i.gone("ConfigMap", release+"-kmm-module")
	// The first revision was made before shipshape was.
	i.wantPermissions("agent-node-label", "storage-pool-eligibility", "replica-scheduling", "kmm-version-labels")
	i.wantStatus("agent-node-label", "Active", "")
}

// remove uninstalls the release; nothing that a Module carries may keep it from
// being deleted.
func (i *installation) remove() {
	i.t.Helper()
	i.deploy("upgrade", "policies.kmm-module.enabled=true", "policies.kmm-node-modules.enabled=true")
	i.wantStatus("kmm-module", "Active", "")
	i.put(module)
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
	for _, one := range append(installed, &object{Object: map[string]any{
		"apiVersion": batchv1.SchemeGroupVersion.String(), "kind": "Job", "metadata": map[string]any{"name": release + "-release", "namespace": namespace},
	}}) {
		api, err := i.api(one)
		if err != nil {
			i.t.Fatal(err)
		}
		if _, err := api.Get(i.t.Context(), one.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			i.t.Errorf("%s %s is left behind (%v)", one.GetKind(), one.GetName(), err)
		}
	}
}

// extender starts a scheduler extender that wants to see a certificate, puts what
// is needed to speak with it into Secrets, and gives the values that name them.
func (i *installation) extender() []string {
	i.t.Helper()
	server := extender.New(extender.Config{Capacity: map[extender.Pool]extender.Capacity{{Name: "group-a"}: {Size: 1 << 40}}})
	running, err := extender.ListenGenerated(i.t.TempDir(), "127.0.0.1:0", server)
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() {
		if err := running.Close(); err != nil {
			i.t.Error(err)
		}
	})
	for name, files := range map[string]map[string]string{
		"authority": {"root.crt": running.CAFile},
		"client":    {"tls.crt": running.ClientCertFile, "tls.key": running.ClientKeyFile},
	} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{}}
		for key, path := range files {
			if secret.Data[key], err = os.ReadFile(path); err != nil {
				i.t.Fatal(err)
			}
		}
		if _, err := i.client.CoreV1().Secrets(namespace).Create(i.t.Context(), secret, metav1.CreateOptions{}); err != nil {
			i.t.Fatal(err)
		}
	}
	return []string{
		"extender.url=" + running.URL, "extender.ca.secretName=authority", "extender.ca.key=root.crt",
		"extender.clientCertificate.secretName=client",
	}
}

// wantPlaced waits until a replica has a node, which the extender was asked for.
func (i *installation) wantPlaced(name, want string) {
	i.t.Helper()
	replica := &object{}
	replica.SetAPIVersion("storage.deckhouse.io/v1alpha1")
	replica.SetKind("ReplicatedVolumeReplica")
	i.eventually("the place of "+name, func(ctx context.Context) string {
		found := i.read(ctx, replica, name)
		if got, _, _ := unstructured.NestedString(found.Object, "spec", "nodeName"); got != want {
			return fmt.Sprintf("want %q, got %q, %v", want, got, found.Object["status"])
		}
		return ""
	})
}

// gone waits until an object is not there any more.
func (i *installation) gone(kind, name string) {
	i.t.Helper()
	one := &object{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"namespace": namespace}}}
	api, err := i.api(one)
	if err != nil {
		i.t.Fatal(err)
	}
	i.eventually(kind+" "+name, func(ctx context.Context) string {
		if _, err := api.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("it is still there (%v)", err)
		}
		return ""
	})
}

// put creates the objects of a text, with their status. A Pod waits for the
// account of its namespace.
func (i *installation) put(text string) {
	i.t.Helper()
	for _, one := range objects(i.t, text) {
		api, err := i.api(one)
		if err != nil {
			i.t.Fatal(err)
		}
		i.eventually("creating "+one.GetKind()+" "+one.GetName(), func(ctx context.Context) string {
			if _, err := api.Create(ctx, one.DeepCopy(), metav1.CreateOptions{}); err != nil {
				return err.Error()
			}
			return ""
		})
		status, err := json.Marshal(map[string]any{"status": one.Object["status"]})
		if err == nil && one.Object["status"] != nil {
			_, err = api.Patch(i.t.Context(), one.GetName(), types.MergePatchType, status, metav1.PatchOptions{}, "status")
		}
		if err != nil {
			i.t.Fatalf("%s %s: %v", one.GetKind(), one.GetName(), err)
		}
	}
}

// wantPool waits for the nodes of the pool, each with its zone, and for the
// label that they get.
func (i *installation) wantPool(want string) {
	i.t.Helper()
	pool, node := &object{}, &object{}
	if err := yaml.Unmarshal([]byte("{apiVersion: storage.deckhouse.io/v1alpha1, kind: ReplicatedStoragePool}"), &pool.Object); err != nil {
		i.t.Fatal(err)
	}
	node.SetAPIVersion("v1")
	node.SetKind("Node")
	i.eventually("the eligible nodes", func(ctx context.Context) string {
		found := i.read(ctx, pool, "data")
		list, _, err := unstructured.NestedSlice(found.Object, "status", "eligibleNodes")
		if err != nil {
			return err.Error()
		}
		got := ""
		for _, entry := range list {
			fields, _ := entry.(map[string]any)
			got = strings.TrimSpace(fmt.Sprint(got, " ", fields["nodeName"], " ", fields["zoneName"]))
		}
		if got != want {
			return fmt.Sprintf("want %q, got %q", want, got)
		}
		if _, labelled := i.read(ctx, node, "node-a").GetLabels()["storage.deckhouse.io/sds-replicated-volume-node"]; !labelled {
			return "node-a has no label"
		}
		return ""
	})
}

func (i *installation) read(ctx context.Context, kind *object, name string) *object {
	i.t.Helper()
	api, err := i.api(kind)
	if err != nil {
		i.t.Fatal(err)
	}
	found, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return found
}

const storage = `
apiVersion: v1
kind: Node
metadata:
  name: node-a
  labels: {topology.kubernetes.io/zone: zone-a, example.com/room: room-1, storage: "yes"}
status:
  conditions: [{type: Ready, status: "True", reason: Test, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: LVMVolumeGroup
metadata: {name: group-a}
spec: {type: Local, actualVGNameOnTheNode: data, local: {nodeName: node-a}}
status:
  conditions: [{type: Ready, status: "True", reason: Test, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
---
apiVersion: v1
kind: Pod
metadata: {name: agent-a, namespace: d8-sds-replicated-volume, labels: {app: agent}}
spec:
  nodeName: node-a
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  containers:
    - {name: agent, image: "agent:1", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}
status:
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: ReplicatedVolume
metadata: {name: orders}
spec: {size: 1Gi}
status:
  configuration: {topology: Ignored, replication: None, volumeAccess: Any, storagePoolName: data}
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: ReplicatedVolumeReplica
metadata: {name: orders-0}
spec: {replicatedVolumeName: orders, type: Diskful}
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: ReplicatedStoragePool
metadata: {name: data}
spec:
  type: LVM
  systemNetworkNames: [Internal]
  eligibleNodesPolicy: {notReadyGracePeriod: 10m}
  nodeLabelSelector: {matchLabels: {storage: "yes"}}
  lvmVolumeGroups: [{name: group-a}]
`

const module = `
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: driver, namespace: default}
spec:
  moduleLoader:
    container:
      modprobe: {moduleName: driver}
      kernelMappings: [{regexp: ".+", containerImage: "example.com/driver:1"}]
  selector: {nothing: here}
`
