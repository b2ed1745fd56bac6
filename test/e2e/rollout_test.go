package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/program"
)

const rolloutSteps = "steps: [{percent: 30}, {selector: topology.kubernetes.io/zone=z2}, {percent: 100}]\ninterval: 4s\n"

// steps sets the annotation with the steps; nil removes it.
func (c *cluster) steps(text any) {
	c.t.Helper()
	c.merge("ConfigMap", home, "one", "", object{"metadata": object{"annotations": object{"edict.dev/rollout": text}}})
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
	spec, problems := rollout.Parse("", rolloutSteps)
	if problems != nil {
		c.t.Fatal(problems)
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
		if share.Has("one", name, labels) {
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
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a")}))
	c.steps(rolloutSteps)
	first := c.fromConfigMaps(nil)
	c.wantShare(nodes, 3, "a", "a") // nothing is in force from which steps would lead
	c.wantNote("one", map[string]string{"status": "Active", "rollout-status": ""})
	before := c.nodePatches()

	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "b")}))
	c.wantNote("one", map[string]string{"status": "RollingOut", "rollout-status": `"step":1,"steps":3,"share":"30%"`})
	c.wantShare(nodes, 1, "b", "a")
	out, code := c.edict(binary, "history", "--policy-namespace", home, "one")
	if code != 0 || !strings.Contains(out, "  RollingOut ") || !strings.Contains(out, ", 12 disagreements") || !strings.Contains(out, " of 12 objects, 0 errors") {
		t.Errorf("edict history ends with %d and prints\n%s", code, out)
	}
	c.wantNote("one", map[string]string{"rollout-status": `"step":2,"steps":3,"share":"topology.kubernetes.io/zone=z2"`})
	c.wantShare(nodes, 2, "b", "a")
	first.stop()
	second := c.fromConfigMaps(nil)
	c.wantNote("one", map[string]string{"rollout-status": `"step":3,"steps":3,"share":"100%"`})
	c.wantShare(nodes, 3, "b", "a")
	c.wantNote("one", map[string]string{"status": "Active", "rollout-status": "", "policies": "one="})
	after := c.nodePatches()
	for _, name := range nodes {
		if n := after[name] - before[name]; n != 1 {
			t.Errorf("%s was patched %d times while it was rolled out, want once", name, n)
		}
	}
	c.wantEvent("RolloutStep")

	c.steps(rolloutSteps + "stop: {disagreements: 3}\n")
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "c")}))
	c.wantNote("one", map[string]string{"status": "RolloutStopped", "error": "about 12 of 12 objects, more than 3; the first is n0: + patch Node n0: metadata.labels.one: ", "rollout-status": `"state":"Stopped"`})
	c.wantEvent("PoliciesRolloutStopped")
	if d := fmt.Sprint(c.nodePatches()); d != fmt.Sprint(after) {
		t.Errorf("what was stopped before its first step has written: %s, before %v", d, after)
	}

	c.steps(rolloutSteps)
	fragile := strings.Replace(marks("one", "one", "d"), `"${params.value}"`, `"${object.metadata.?labels[?'boom'].orValue('') == '' ? params.value : object.metadata.labels.missing}"`, 1)
	c.put(policyMap("one", map[string]string{"one.yaml": fragile}))
	c.wantNote("one", map[string]string{"status": "RollingOut", "rollout-status": `"step":1,`})
	c.wantShare(nodes, 1, "d", "b")
	c.merge("Node", "", "n5", "", object{"metadata": object{"labels": object{"boom": "x"}}})
	c.wantNote("one", map[string]string{"status": "RolloutStopped", "error": "1 of 12 objects fail under "})
	c.wantShare(nodes, 3, "b", "b")
	if out, code := c.edict(binary, "rollback", "--policy-namespace", home, "one"); code != 0 {
		t.Fatalf("%d: %s", code, out)
	}
	c.wantNote("one", map[string]string{"status": "Active", "error": "", "rollout-status": ""})
	second.running("one")

	c.steps("steps: [{percent: 200}]\ninterval: 1m\n")
	c.wantNote("one", map[string]string{"status": "Refused", "error": "percent must be an integer from 1 to 100", "policies": "one="})
	c.steps(rolloutSteps)
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "e")}))
	c.wantNote("one", map[string]string{"status": "RollingOut", "rollout-status": `"step":1,`})
	c.steps(nil)
	c.wantShare(nodes, 3, "e", "e")
	c.wantNote("one", map[string]string{"status": "Active", "rollout-status": ""})

	c.steps("steps: [{percent: 5}]\ninterval: 10m\nstop: {disagreements: 3}\n")
	out, code = c.edict(binary, "rollback", "--policy-namespace", home, "one")
	if code != 0 || !strings.Contains(out, "it comes into force at once, without the steps") {
		t.Errorf("%d: %s", code, out)
	}
	c.wantShare(nodes, 3, "b", "b")
	c.wantNote("one", map[string]string{"status": "Active", "rollout-status": ""})
}
