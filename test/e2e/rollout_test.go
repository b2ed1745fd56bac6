package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/program"
)

const rolloutSteps = "{steps: [{percent: 30}, {selector: {matchLabels: {topology.kubernetes.io/zone: z2}}}, {percent: 100}], interval: 4s}"

// steps sets the rollout of the set; empty removes it.
func (c *cluster) steps(text string) {
	c.t.Helper()
	var spec object
	if err := yaml.Unmarshal([]byte(text), &spec); err != nil {
		c.t.Fatal(err)
	}
	if spec == nil {
		c.patchSet("one", object{"rollout": nil})
		return
	}
	if _, has := spec["stop"]; !has {
		spec["stop"] = nil // removes it
	}
	c.patchSet("one", object{"rollout": spec})
}

// wantStep waits until a step of the rollout of the set has begun.
func (c *cluster) wantStep(step int32) {
	c.t.Helper()
	eventually(c.t, "a step", func() string {
		p := c.statusOf("one").Policies
		if len(p) != 1 || p[0].Rollout == nil || p[0].Rollout.Step < step {
			return fmt.Sprintf("%+v", p)
		}
		return ""
	})
}

// values returns the values of the label one of all nodes.
func (c *cluster) values(nodes []string) map[string]string {
	out := map[string]string{}
	for _, name := range nodes {
		out[name] = c.get("Node", "", name).GetLabels()["one"]
	}
	return out
}

// wantShare waits until the nodes of the first steps have one value, and all others
// another one.
func (c *cluster) wantShare(nodes []string, step int, in, out string) {
	c.t.Helper()
	var of v1alpha1.Rollout
	if err := yaml.Unmarshal([]byte(rolloutSteps), &of); err != nil {
		c.t.Fatal(err)
	}
	spec, err := rollout.New(&of)
	if err != nil {
		c.t.Fatal(err)
	}
	c.wantValues(nodes, spec.Share(step), in, out)
}

// wantValues waits until the nodes of a share have one value, and all others another one.
func (c *cluster) wantValues(nodes []string, share rollout.Share, in, out string) {
	c.t.Helper()
	want := map[string]string{}
	for i, name := range nodes {
		want[name] = out
		labels := value.FromMap(map[string]value.Value{"topology.kubernetes.io/zone": value.OfString(inZone(i))})
		if share.Has("one/one", name, labels) {
			want[name] = in
		}
	}
	eventually(c.t, "the nodes of a share", func() string {
		if got := c.values(nodes); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Sprintf("want %v, got %v", want, got)
		}
		return ""
	})
}

func inZone(i int) string { return fmt.Sprint("z", i%3) }

// nodePatches counts by the audit log how often the controllers have patched each node.
func (c *cluster) nodePatches() map[string]int {
	c.t.Helper()
	file, err := os.Open(c.plane.AuditLogPath())
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	lines, out := bufio.NewScanner(file), map[string]int{}
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct {
			Stage, Verb, RequestURI string
			ObjectRef               struct{ Resource, Name string }
			ResponseStatus          struct{ Code int }
		}
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Stage == "ResponseComplete" && e.Verb == "patch" && e.ObjectRef.Resource == "nodes" &&
			strings.Contains(e.RequestURI, "fieldManager=") && e.ResponseStatus.Code == 200 {
			out[e.ObjectRef.Name]++
		}
	}
	return out
}

// TestRollout: a new revision comes into force in steps, also through a restart in the
// middle; each object is written once. What would disagree too much writes nothing, and
// what fails later is taken back. A rollback is in force at once.
func TestRollout(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	binary := program.Build(t)
	var nodes []string
	for i := range 12 {
		nodes = append(nodes, fmt.Sprint("n", i))
		c.put(node(nodes[i], inZone(i), true, time.Now()))
	}
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	c.steps(rolloutSteps)
	first := c.fromSets(nil)
	c.wantShare(nodes, 3, "a", "a") // nothing is in force from which steps would lead
	c.wants("one", "Ready", "True Enforcing")
	before := c.nodePatches()

	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "b")})
	c.wants("one", "Ready", "False Progressing")
	c.wantShare(nodes, 1, "b", "a")
	c.wants("one", "Ready", ", 12 disagreements", " of 12 objects, 0 errors")
	c.wantStep(2)
	c.wantShare(nodes, 2, "b", "a")
	first.stop()
	second := c.fromSets(nil)
	c.wantStep(3)
	c.wantShare(nodes, 3, "b", "a")
	c.wants("one", "Ready", "True Enforcing")
	after := c.nodePatches()
	for _, name := range nodes {
		if n := after[name] - before[name]; n != 1 {
			t.Errorf("%s was patched %d times while it was rolled out, want once", name, n)
		}
	}

	c.steps(strings.TrimSuffix(rolloutSteps, "}") + `, stop: {disagreements: "3"}}`)
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "c")})
	c.wants("one", "Ready", "False RolloutStopped", "about 12 of 12 objects, more than 3; the first is n0: + patch Node n0: metadata.labels.one: ")
	c.wantEvent("RolloutStopped")
	if d := fmt.Sprint(c.nodePatches()); d != fmt.Sprint(after) {
		t.Errorf("what was stopped before its first step has written: %s, before %v", d, after)
	}

	fragile := strings.Replace(marks("one", "one", "d"), `"${params.value}"`, `"${object.metadata.?labels[?'boom'].orValue('') == '' ? params.value : object.metadata.labels.missing}"`, 1)
	c.put(textOf("one", map[string]string{"one.yaml": fragile}))
	c.steps(rolloutSteps)
	c.wants("one", "Ready", "False Progressing")
	c.wantShare(nodes, 1, "d", "b")
	c.merge("Node", "", "n5", "", object{"metadata": object{"labels": object{"boom": "x"}}})
	c.wants("one", "Ready", "False RolloutStopped", "1 of 12 objects fail under ")
	c.wantShare(nodes, 3, "b", "b")
	if out, code := c.edict(binary, "rollback", "-n", home, "one"); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	c.wants("one", "Ready", "True Enforcing")
	second.running("one")

	c.steps(rolloutSteps)
	c.put(textOf("one", map[string]string{"one.yaml": marks("one", "one", "e")}))
	c.patchSet("one", object{"source": object{"digest": nil}})
	c.wants("one", "Ready", "False Progressing")
	c.steps("")
	c.wantShare(nodes, 3, "e", "e")
	c.wants("one", "Ready", "True Enforcing")

	c.steps("{steps: [{percent: 5}], interval: 10m, stop: {disagreements: \"3\"}}")
	if out, code := c.edict(binary, "rollback", "-n", home, "one"); code != 0 {
		t.Errorf("%d: %s", code, out)
	}
	c.wantShare(nodes, 3, "b", "b") // at once, without the steps
	c.wants("one", "Ready", "True Enforcing")
}

// TestRolloutOfParamsStops: params that disagree too much reach no object, also after the set is
// reconciled again.
func TestRolloutOfParamsStops(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	var nodes []string
	for i := range 5 {
		nodes = append(nodes, fmt.Sprint("n", i))
		c.put(node(nodes[i], inZone(i), true, time.Now()))
	}
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	c.fromSets(nil)
	c.wantShare(nodes, 3, "a", "a")
	c.wants("one", "Ready", "True Enforcing")
	c.steps(strings.TrimSuffix(rolloutSteps, "}") + `, stop: {disagreements: "3"}}`)
	c.patchSet("one", object{"params": object{"one": object{"value": "b"}}})
	c.wants("one", "Ready", "False RolloutStopped", "about 5 of 5 objects, more than 3")
	<-time.After(7 * time.Second) // reconciles it twice
	c.wants("one", "Ready", "False RolloutStopped")
	c.wantShare(nodes, 3, "a", "a")
	c.merge("Node", "", "n0", "", object{"metadata": object{"labels": object{"one": nil}}})
	c.wantShare(nodes, 3, "a", "a")
}
