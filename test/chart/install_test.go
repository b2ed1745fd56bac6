package chart

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/podrunner"
	"github.com/edict-dev/edict/test/program"
)

const agents = "d8-sds-replicated-volume"

// installation is a cluster on which the chart is installed and its Pods run.
type installation struct {
	*cluster
	pods *podrunner.Runner
	port string // of localhost, behind which the webhook is
	// binary is the controller, and the command line.
	binary string
}

// newInstallation starts a cluster; the webhook's Service is the one of a name.
func newInstallation(t *testing.T, service string) *installation {
	t.Helper()
	c := startCluster(t, controlplane.Options{ControllerManager: true})
	c.namespace(namespace)
	c.namespace(agents)
	if err := c.plane.InstallCRDs(t.Context(), filepath.Join(root, "test", "crds")); err != nil {
		t.Fatal(err)
	}
	binary := program.Build(t)
	pods, err := podrunner.Start(t.Context(), c.plane.Config(), podrunner.Options{
		Namespace: namespace, Binary: binary, Node: "runner",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the Pods printed:\n%s", pods.Logs())
		}
		if err := pods.Stop(); err != nil {
			t.Error(err)
		}
	})
	port, err := pods.Forward(t.Context(), service)
	if err != nil {
		t.Fatal(err)
	}
	return &installation{cluster: c, pods: pods, port: port, binary: binary}
}

// helm runs helm against the cluster.
func (i *installation) helm(arguments ...string) string {
	i.t.Helper()
	text, err := i.tryHelm(arguments...)
	if err != nil {
		i.t.Fatalf("helm %s: %v", strings.Join(arguments, " "), err)
	}
	return text
}

// tryHelm runs helm against the cluster, which may fail.
func (i *installation) tryHelm(arguments ...string) (string, error) {
	i.t.Helper()
	return helm(i.t, append(arguments, "--kubeconfig", i.plane.Kubeconfig(), "--namespace", namespace)...)
}

// deploy installs or upgrades the release, and waits until its Pods are ready.
func (i *installation) deploy(verb string, set ...string) string {
	i.t.Helper()
	arguments := []string{verb, release, chart, "--wait", "--timeout", "2m"}
	set = append([]string{"webhook.url=https://localhost:" + i.port + "/validate"}, set...)
	if verb == "upgrade" {
		arguments = append(arguments, "--reuse-values")
	} else {
		set = append([]string{"defaultMode=Enforce"}, set...)
	}
	for _, one := range set {
		arguments = append(arguments, "--set", one)
	}
	return i.helm(arguments...)
}

func (i *installation) configMap(name string) map[string]string {
	i.t.Helper()
	found, err := i.client.CoreV1().ConfigMaps(namespace).Get(i.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return found.Data
}

// editConfigMap writes a merge patch of a ConfigMap's data, as kubectl edit does.
func (i *installation) editConfigMap(name string, data map[string]string) error {
	body, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	_, err = i.client.CoreV1().ConfigMaps(namespace).Patch(i.t.Context(), name, types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

// eventually waits until nothing is wrong any more.
func (i *installation) eventually(what string, wrong func(context.Context) string) {
	i.t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		text := wrong(i.t.Context())
		if text == "" {
			return
		}
		if time.Now().After(deadline) {
			i.t.Fatalf("%s: %s", what, text)
		}
		<-ticker.C
	}
}
