package controlplane

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startPlane starts a control plane for the test and checks, once it is
// stopped, that nothing of it is left.
func startPlane(t *testing.T, options Options) (*ControlPlane, client.Client) {
	t.Helper()
	Require(t)
	begin := time.Now()
	plane, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %s", time.Since(begin).Round(time.Millisecond))
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
		checkGone(t, plane.folder)
	})
	c, err := client.New(plane.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return plane, c
}

// checkGone fails when the folder is there or a process has it in its command
// line, as every component has.
func checkGone(t *testing.T, folder string) {
	t.Helper()
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the data folder %s is left", folder)
	}
	commandLines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range commandLines {
		text, _ := os.ReadFile(path)
		if strings.Contains(string(text), folder) {
			t.Errorf("a process is left: %s", strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
}

func TestControlPlaneServes(t *testing.T) {
	plane, c := startPlane(t, Options{AuditLog: true})
	ctx := t.Context()
	if err := plane.InstallCRDs(ctx, "../crds"); err != nil {
		t.Fatal(err)
	}
	checkNode(ctx, t, c)
	pool := readObject(t, poolText)
	createWithStatus(ctx, t, c, pool)

	output, err := exec.CommandContext(ctx, plane.Kubectl(), "--kubeconfig", plane.Kubeconfig(),
		"get", "rsp", "pool-a", "-o", "jsonpath={.status.eligibleNodes[0].nodeName} {.spec.eligibleNodesPolicy.notReadyGracePeriod}").CombinedOutput()
	if want := "worker-1 10m"; err != nil || string(output) != want {
		t.Errorf("kubectl says %q (%v), want %q", output, err, want)
	}
	audit, err := os.ReadFile(plane.AuditLogPath())
	if err != nil || !strings.Contains(string(audit), `"requestURI":"/apis/storage.deckhouse.io/v1alpha1/replicatedstoragepools/pool-a/status"`) {
		t.Errorf("the audit log misses the write of the pool's status (%v)", err)
	}
	if err := plane.RestartAPIServer(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Errorf("the pool after a restart: %v", err)
	}
}

func checkNode(ctx context.Context, t *testing.T, c client.Client) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}
	if err := c.Create(ctx, node); err != nil {
		t.Fatal(err)
	}
	before := node.DeepCopy()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := c.Status().Patch(ctx, node, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if len(node.Status.Conditions) != 1 {
		t.Errorf("the status after the patch: %+v", node.Status)
	}
}

const poolText = `
apiVersion: storage.deckhouse.io/v1alpha1
kind: ReplicatedStoragePool
metadata: {name: pool-a}
spec: {type: LVM, lvmVolumeGroups: [{name: vg-1}]}
status:
  eligibleNodesRevision: 1
  eligibleNodes:
  - {nodeName: worker-1, unschedulable: false, nodeReady: true, agentReady: true}
`

func readObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func createWithStatus(ctx context.Context, t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	status := object.Object["status"]
	if err := c.Create(ctx, object); err != nil {
		t.Fatal(err)
	}
	object.Object["status"] = status
	if err := c.Status().Update(ctx, object); err != nil {
		t.Fatal(err)
	}
}

func TestControllerManagerCollectsChildren(t *testing.T) {
	_, c := startPlane(t, Options{ControllerManager: true})
	ctx := t.Context()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}}
	if err := c.Create(ctx, owner); err != nil {
		t.Fatal(err)
	}
	// A Pod, since it is the service account's making that lets one be created.
	child := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "child", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
		}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}},
	}
	if err := c.Create(ctx, child); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, owner); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is collected", func() bool {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(child), child))
	})
}

// eventually polls for up to half a minute.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Errorf("never: %s", what)
}
