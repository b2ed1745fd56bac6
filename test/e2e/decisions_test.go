package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/backtest"
	"github.com/edict-dev/edict/engine/changelog"
	"github.com/edict-dev/edict/engine/run"
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

// TestDecisionsOfARunningController: why a running controller decided so, its last
// decision as a test, and what it wrote under load, made again offline.
func TestDecisionsOfARunningController(t *testing.T) {
	t.Parallel()
	c := start(t, true)
	c.storageWorld()
	binary := edictBinary(t)
	folder := storageFolder(t)
	address := freeAddress(t)
	var log lockedBuffer
	edict := c.run(func(o *run.Options) {
		o.Policies, o.Decisions, o.DecisionsAddress = []string{folder}, 256, address
		o.ChangeLog, o.ChangeLogInputs = &log, true
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
	c.load(t, &log)
	edict.stop()
	c.backtested(binary, folder, log.String())
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

// wantedDecisions is how many decisions under load are made again.
const wantedDecisions = 900

// load takes the label from nodes that need it, again and again, from several sides.
func (c *cluster) load(t *testing.T, log *lockedBuffer) {
	t.Helper()
	for n := range 40 {
		name := fmt.Sprintf("load-%d", n)
		c.put(node(name, "zone-a", true, time.Now()))
		c.put(object{"apiVersion": storage, "kind": "DRBDResource", "metadata": object{"name": name}, "spec": object{"nodeName": name}})
	}
	for round := 0; strings.Count(log.String(), "\n") < wantedDecisions; round++ {
		if round > 100 {
			t.Fatalf("%d writes after %d rounds", strings.Count(log.String(), "\n"), round)
		}
		for n := range 40 {
			c.merge("Node", "", fmt.Sprintf("load-%d", n), "", object{"metadata": object{"labels": object{agentLabel: fmt.Sprint("x", round)}}})
		}
		c.merge("Node", "", "node-a1", "", object{"spec": object{"unschedulable": round%2 == 0}})
		time.Sleep(50 * time.Millisecond)
	}
}

// backtested makes the decisions of a change log again, by the same policies and by
// an edit.
func (c *cluster) backtested(binary, folder, log string) {
	c.t.Helper()
	ids := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader([]byte(log)))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line changelog.Line
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			c.t.Fatal(err)
		}
		ids[line.ID] = true
		if line.Policy == "" || line.Rule == "" || line.Result == "" || len(line.Reads) == 0 || len(line.WokenBy) == 0 {
			c.t.Fatalf("%s", lines.Text())
		}
	}
	file := filepath.Join(c.t.TempDir(), "changes.jsonl")
	write(c.t, file, log)
	out, code := offline(c.t, binary, "backtest", "--log", file, "-o", "json", "--schemas", crds, folder)
	var result backtest.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
	if code != 0 || result.Decisions != len(ids) || result.Same != len(ids) || len(ids) < 1000 {
		c.t.Errorf("exit code %d: %d decisions of %d, %d the same, %d different, %d not decided", code, result.Decisions, len(ids), result.Same, len(result.Different), len(result.NotDecided))
		for _, d := range result.Different[:min(3, len(result.Different))] {
			c.t.Logf("%+v", d)
		}
	}
	edited := storageFolder(c.t, `labels: {set: {"${params.label}": ""}}`, `labels: {set: {"${params.label}": "yes"}}`)
	if out, code := offline(c.t, binary, "backtest", "--log", file, "--schemas", crds, edited); code != 1 || !strings.Contains(out, `"storage.deckhouse.io/sds-replicated-volume-node":"yes"`) {
		c.t.Errorf("%d: %.500s", code, out)
	}
}
