package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/program"
)

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// TestDecisionsOfARunningController: why a running controller decided so, and its
// last decision as a test.
func TestDecisionsOfARunningController(t *testing.T) {
	t.Parallel()
	c := start(t, true)
	c.storageWorld()
	binary := program.Build(t)
	folder := storageFolder(t)
	address := freeAddress(t)
	edict := c.run(func(o *run.Options) {
		o.Policies, o.Decisions, o.DecisionsAddress = []string{folder}, 256, address
	})
	edict.running("storage-pool-eligibility", "agent-node-label")
	explain := func(args ...string) string {
		out, code := offline(t, binary, append([]string{"explain", "--address", "http://" + address}, args...)...)
		if code != 0 {
			return fmt.Sprintf("exit code %d: %s", code, out)
		}
		return out
	}
	eventually(t, "the pool is decided", func() string {
		return without(explain("storage-pool-eligibility", "fast"), "ReplicatedStoragePool fast: ")
	})
	c.merge("Node", "", "node-a1", "", object{"spec": object{"unschedulable": true}})
	eventually(t, "why the pool was evaluated", func() string {
		return without(explain("storage-pool-eligibility", "fast", "--last-write"), "it was evaluated because Node/node-a1 changed spec.unschedulable", "patch ReplicatedStoragePool fast (status)", ": written")
	})
	if wrong := without(explain("storage-pool-eligibility", "fast", "--why-not", "node-a2"), "Node node-a2 is not in inputs.nodes: `labels.matches("); wrong != "" {
		t.Error(wrong)
	}
	if wrong := without(explain("storage-pool-eligibility", "fast"), "Last write: ReplicatedStoragePool fast: the rule \"publish the eligible nodes\" applies"); wrong != "" {
		t.Error(wrong)
	}
	captured := filepath.Join(folder, "captured.yaml")
	if out, code := offline(t, binary, "capture", "storage-pool-eligibility", "fast", "--address", "http://"+address, "--last-write", "--out", captured); code != 0 {
		t.Errorf("%d: %s", code, out)
	}
	if out, code := offline(t, binary, "test", captured); code != 0 || !strings.Contains(out, "1 passed") {
		t.Errorf("%d: %s", code, out)
	}
	if err := os.Remove(captured); err != nil {
		t.Error(err)
	}
}

// without says which texts a text lacks.
func without(text string, wanted ...string) string {
	for _, one := range wanted {
		if !strings.Contains(text, one) {
			return fmt.Sprintf("%q is not in:\n%s", one, text)
		}
	}
	return ""
}
