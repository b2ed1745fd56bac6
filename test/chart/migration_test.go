package chart

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/edict-dev/edict/test/controlplane"
)

// TestMigration does what docs/migration.md says: as installed the policies
// write nothing and tell what they would, and then they are put in force.
func TestMigration(t *testing.T) {
	controlplane.RequireLong(t)
	i := newInstallation(t, release+"-webhook")
	i.put("storage.yaml")
	notes := i.helm("install", release, chart, "--wait", "--timeout", "2m", "--set", "webhook.url=https://localhost:"+i.port+"/validate",
		"--set", "params."+pools+".agentNamespace=later")
	for _, want := range []string{"The namespace later does not exist, so these policies wait for it", "agent-node-label (Shadow)", "None of them writes anything"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, notes)
		}
	}
	// It waits although another policy may read the Pods of all namespaces.
	i.wantReady(pools, "Waiting", "the namespace later does not exist")
	i.deploy("upgrade", "params."+pools+".agentNamespace="+agents)
	i.eventually("what the shadow would write", func(ctx context.Context) string {
		output, err := exec.CommandContext(ctx, i.binary, "shadow", "-n", namespace, "--kubeconfig", i.plane.Kubeconfig()).CombinedOutput()
		if err != nil || !strings.Contains(string(output), "patch ReplicatedStoragePool data (status)") {
			return string(output)
		}
		return ""
	})
	pool := i.read(t.Context(), &object{Object: map[string]any{"apiVersion": "storage.deckhouse.io/v1alpha1", "kind": "ReplicatedStoragePool"}}, "data")
	if pool.Object["status"] != nil {
		t.Errorf("a policy in the shadow has written %v", pool.Object["status"])
	}
	i.deploy("upgrade", "policies."+pools+".mode=Enforce", "policies.agent-node-label.mode=Enforce")
	i.wantPool("node-a zone-a")
}
