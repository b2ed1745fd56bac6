package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/compare"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/program"
)

// storagePolicies are those of the storage system.
var storagePolicies = []string{"storage-pool-eligibility.yaml", "agent-node-label.yaml", "replica-scheduling.yaml"}

// storageKinds are the kinds of examples/storage.
var storageKinds = append([]string{"ReplicatedVolume", "ReplicatedVolumeReplica"}, kinds...)

// storageWorld creates the objects of examples/storage.
func (c *cluster) storageWorld() {
	c.t.Helper()
	folder := filepath.Join(root, "examples", "storage")
	objects, err := simulate.ReadObjects(folder, filepath.Join(folder, "answers.json"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.fill(objects)
}

func (c *cluster) all(kinds []string) (out []simulate.Object) {
	c.t.Helper()
	for _, kind := range kinds {
		list, err := c.of(kind, "").List(c.t.Context(), metav1.ListOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		for _, u := range list.Items {
			out = append(out, u.Object)
		}
	}
	return out
}

// storageFolder writes the policies of the storage system into a folder, with
// replacements of texts.
func storageFolder(t *testing.T, replacements ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range storagePolicies {
		text, err := os.ReadFile(filepath.Join(policies, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), strings.NewReplacer(replacements...).Replace(string(text)))
	}
	return folder
}

// TestPlanIsWhatIsWritten: what edict plan shows of an installation and of edits
// is what the controller then writes, field for field, and the command itself
// changes nothing.
func TestPlanIsWhatIsWritten(t *testing.T) {
	t.Parallel()
	c := start(t, true)
	c.storageWorld()
	binary := program.Build(t)
	answers := filepath.Join(t.TempDir(), "answers.yaml")
	write(t, answers, "extender: {default: 5}\n")
	var before string
	for _, edit := range [][]string{
		nil, // the installation
		{"default: topology.kubernetes.io/zone", "default: example.com/zone"},
		{"default: storage.deckhouse.io/sds-replicated-volume-node", "default: example.com/agent"},
		{"- storage.deckhouse.io/lvmVolumeGroupUnschedulable", "- example.com/other", "default: d8-sds-replicated-volume", "default: default"},
	} {
		folder := storageFolder(t, edit...)
		args := []string{"plan", "--policies", folder, "--answers", answers, "-o", "json"}
		if before != "" {
			args = append(args, "--against", before)
		}
		world := c.all(storageKinds)
		out, code := c.edict(binary, args...)
		var plan compare.Result
		if err := json.Unmarshal([]byte(out), &plan); err != nil || code != 2 || len(plan.NotDecided) > 0 {
			t.Fatalf("%v: exit code %d, %v\n%s", edit, code, err, out)
		}
		edict := c.run(func(o *run.Options) { o.Policies = []string{folder} })
		eventually(t, fmt.Sprintf("%v: the plan differs from what was written (-plan +written)", edit), func() string {
			written, _ := compare.Objects(world, c.all(storageKinds))
			return cmp.Diff(timeless(plan.Changes), timeless(written))
		})
		edict.stop()
		before = folder
	}
	c.explored(binary, before, answers)
	c.wantOnlyReads()
	c.snapshotIsSettled(binary, before, answers)
}

// timeless returns changes without the policies and without times of writing.
func timeless(changes []compare.Change) map[string]any {
	out := map[string]any{}
	for _, c := range changes {
		for _, f := range c.Fields {
			if !strings.HasSuffix(f.Path, "lastTransitionTime") {
				out[fmt.Sprint(c.Target, c.Verb, f.Path)] = [2]any{withoutTimes(f.Before), withoutTimes(f.After)}
			}
		}
	}
	return out
}

// withoutTimes returns a value as JSON has it, without times of writing.
func withoutTimes(v any) (out any) {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return err.Error()
	}
	return dropTimes(out)
}

func dropTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "lastTransitionTime")
		for name, field := range v {
			v[name] = dropTimes(field)
		}
	case []any:
		for i := range v {
			v[i] = dropTimes(v[i])
		}
	}
	return v
}

// wantOnlyReads judges by the audit log that the program itself has sent nothing
// but reads.
func (c *cluster) wantOnlyReads() {
	c.t.Helper()
	file, err := os.Open(c.plane.AuditLogPath())
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	reads := 0
	for lines.Scan() {
		var request struct{ UserAgent, Verb, RequestURI string }
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			c.t.Fatal(err)
		}
		if !strings.HasPrefix(request.UserAgent, "edict/") {
			continue // the controller of this process, or the test
		}
		switch request.Verb {
		case "get", "list", "watch":
			reads++
		default:
			c.t.Errorf("%s %s", request.Verb, request.RequestURI)
		}
	}
	if err := lines.Err(); err != nil || reads == 0 {
		c.t.Errorf("%d reads, %v", reads, err)
	}
}

// explored: a page about the decisions is made from the cluster.
func (c *cluster) explored(binary, folder, answers string) {
	c.t.Helper()
	page, code := c.edict(binary, "explore", "--policies", folder, "--answers", answers, "--export", "-")
	if code != 0 || !strings.Contains(page, `"origin":"the cluster"`) || !strings.Contains(page, "Node node-c2: nothing has to be written") {
		c.t.Errorf("%d: a page of %d bytes: %.2000s", code, len(page), page)
	}
}

// snapshotIsSettled: two snapshots of a settled cluster are the same bytes, and
// there is nothing to do on them; a decision is explained and captured from the
// cluster.
func (c *cluster) snapshotIsSettled(binary, folder, answers string) {
	c.t.Helper()
	dir := c.t.TempDir()
	var texts []string
	for _, name := range []string{"a.yaml", "b.yaml"} {
		path := filepath.Join(dir, name)
		if out, code := c.edict(binary, "snapshot", "--policies", folder, "--out", path); code != 0 {
			c.t.Fatalf("%d: %s", code, out)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		c.t.Errorf("two snapshots of one cluster differ:\n%s", diff)
	}
	sim, code := offline(c.t, binary, "simulate", "--policies", folder, "--objects", filepath.Join(dir, "a.yaml"), "--answers", answers)
	if code != 0 || !strings.Contains(sim, "Nothing to write") {
		c.t.Errorf("%d: %s", code, sim)
	}
	out, code := c.edict(binary, "explain", "agent-node-label", "node-c2", "--policies", folder)
	if code != 0 || !strings.Contains(out, "Node node-c2: nothing has to be written") {
		c.t.Errorf("%d: %s", code, out)
	}
	captured := filepath.Join(dir, "captured.yaml")
	if out, code := c.edict(binary, "capture", "storage-pool-eligibility", "fast", "--policies", folder, "--out", captured); code != 0 {
		c.t.Fatalf("%d: %s", code, out)
	}
	if out, code := offline(c.t, binary, "test", captured); code != 0 || !strings.Contains(out, "1 passed, 0 failed") {
		c.t.Errorf("%d: %s", code, out)
	}
}
