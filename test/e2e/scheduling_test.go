package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	client "github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/extender"
)

const scheduling = "replica-scheduling"

// storageNodes fills the cluster with nodes of three zones, each with an agent
// and two volume groups, and one pool of all of them. It gives the room in the
// groups.
func (c *cluster) storageNodes(nodes int) map[extender.Pool]extender.Capacity {
	c.t.Helper()
	capacity := map[extender.Pool]extender.Capacity{}
	var groups []string
	for i := range nodes {
		name := fmt.Sprintf("n%02d", i)
		c.put(node(name, fmt.Sprintf("zone-%c", 'a'+i%3), true, time.Now().Add(-time.Hour)))
		c.put(agent("agent-"+name, name, true))
		for _, letter := range []string{"a", "b"} {
			c.put(group(name+"-"+letter, name, true))
			groups = append(groups, name+"-"+letter)
			capacity[extender.Pool{Name: name + "-" + letter}] = extender.Capacity{Size: 1 << 40, Used: int64(i) << 34}
		}
	}
	c.put(pool("data", object{"lvmVolumeGroups": refs(groups...)}))
	return capacity
}

// extender starts a real extender, and a client of it.
func (c *cluster) extender(capacity map[extender.Pool]extender.Capacity) (*extender.Server, *client.Client) {
	c.t.Helper()
	running, err := extender.ListenTLS(c.t.TempDir())
	if err != nil {
		c.t.Fatal(err)
	}
	running.Server.SetCapacity(capacity)
	connected, err := client.New(client.Config{
		URL: running.URL, CAFile: running.CAFile, CertFile: running.ClientCertFile, KeyFile: running.ClientKeyFile,
		Timeout: 2 * time.Second, Breaker: client.Breaker{OpenFor: time.Second},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := running.Close(); err != nil {
			c.t.Error(err)
		}
	})
	return running.Server, connected
}

func asking(to *client.Client) func(*run.Options) {
	return func(o *run.Options) { o.Answers = expr.Answerers{"extender": to} }
}

// wanted is a volume and the kinds of its replicas.
type wanted struct {
	name, topology, replication string
	replicas                    []string
	attachTo                    []any
}

// volume creates a volume with its replicas.
func (c *cluster) volume(w wanted) {
	c.t.Helper()
	status := object{"configuration": object{
		"topology": w.topology, "replication": w.replication, "volumeAccess": "PreferablyLocal", "storagePoolName": "data",
	}}
	if w.attachTo != nil {
		status["desiredAttachTo"] = w.attachTo
	}
	c.put(object{
		"apiVersion": storage, "kind": "ReplicatedVolume", "metadata": object{"name": w.name},
		"spec": object{"size": "10Gi", "replicatedStorageClassName": "class"}, "status": status,
	})
	for i, kind := range w.replicas {
		c.put(replica(w.name, i, kind))
	}
}

func replica(volume string, i int, kind string) object {
	spec := object{"replicatedVolumeName": volume, "type": kind}
	if kind == "Access" {
		spec["nodeName"] = "n00"
	}
	return object{"apiVersion": storage, "kind": "ReplicatedVolumeReplica", "metadata": object{"name": fmt.Sprintf("%s-%d", volume, i)}, "spec": spec}
}

// placed is what a replica shows.
type placed struct{ kind, node, group, status, reason, message string }

func (c *cluster) replicas() map[string]map[string]placed {
	c.t.Helper()
	list, err := c.of("ReplicatedVolumeReplica", "").List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	out := map[string]map[string]placed{}
	for _, u := range list.Items {
		volume, p := shown(u)
		if out[volume] == nil {
			out[volume] = map[string]placed{}
		}
		out[volume][u.GetName()] = p
	}
	return out
}

func shown(u unstructured.Unstructured) (volume string, p placed) {
	spec := func(field string) string {
		s, _, _ := unstructured.NestedString(u.Object, "spec", field)
		return s
	}
	p = placed{kind: spec("type"), node: spec("nodeName"), group: spec("lvmVolumeGroupName")}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range conditions {
		if m, ok := item.(object); ok && m["type"] == "Scheduled" {
			p.status, p.reason, p.message = fmt.Sprint(m["status"]), fmt.Sprint(m["reason"]), fmt.Sprint(m["message"])
		}
	}
	return spec("replicatedVolumeName"), p
}

// wantPlaced waits until every replica is placed, and checks that no rule of
// placement is broken.
func (c *cluster) wantPlaced(volumes []wanted) {
	c.t.Helper()
	var all map[string]map[string]placed
	eventually(c.t, "placing the replicas", func() string {
		all = c.replicas()
		for _, w := range volumes {
			for name, p := range all[w.name] {
				if p.status != "True" && p.kind != "Access" {
					return fmt.Sprintf("%s: %+v", name, p)
				}
			}
		}
		return ""
	})
	for _, w := range volumes {
		if wrong := broken(w, all[w.name]); wrong != "" {
			c.t.Errorf("volume %s (%s): %s: %+v", w.name, w.topology, wrong, all[w.name])
		}
	}
}

func zoneOf(node string) int {
	var i int
	if _, err := fmt.Sscanf(node, "n%d", &i); err != nil {
		return -1
	}
	return i % 3
}

// broken says which rule of placement a volume breaks.
func broken(w wanted, replicas map[string]placed) string {
	nodes := map[string]bool{}
	zones := map[int]int{}
	for name, p := range replicas {
		if p.kind == "Access" {
			continue
		}
		if nodes[p.node] {
			return "two replicas on " + p.node
		}
		nodes[p.node] = true
		if p.kind == "Diskful" && !strings.HasPrefix(p.group, p.node+"-") {
			return name + " has a group of another node"
		}
		zones[zoneOf(p.node)]++
	}
	counts := slices.Sorted(maps.Values(zones))
	switch {
	case w.topology == "Zonal" && len(zones) > 1:
		return "it is spread over several zones"
	case w.topology == "TransZonal" && len(zones) < min(3, len(nodes)):
		return "a zone has none"
	case w.topology == "TransZonal" && counts[len(counts)-1]-counts[0] > 1:
		return "the zones are uneven"
	}
	return ""
}

// manyVolumes are volumes of all topologies and replication modes.
func manyVolumes(n int) []wanted {
	modes := map[string][]string{
		"None": {"Diskful"}, "Availability": {"Diskful", "Diskful", "TieBreaker"},
		"Consistency": {"Diskful", "Diskful"}, "ConsistencyAndAvailability": {"Diskful", "Diskful", "Diskful", "Access"},
	}
	names := slices.Sorted(maps.Keys(modes))
	out := make([]wanted, n)
	for i := range out {
		mode := names[i%len(names)]
		out[i] = wanted{fmt.Sprintf("v%03d", i), []string{"Ignored", "Zonal", "TransZonal"}[i%3], mode, modes[mode], nil}
	}
	return out
}

// TestManyVolumes places 200 volumes on 30 nodes. The extender is asked about
// every Diskful replica once and confirms it once: no decision is made twice.
func TestManyVolumes(t *testing.T) {
	controlplane.RequireLong(t)
	c := start(t, true)
	server, to := c.extender(c.storageNodes(30))
	edict := c.run(asking(to))
	edict.running(eligibility, label, scheduling)
	eventually(t, "the pool", func() string {
		if n := len(strings.Fields(c.eligible("data"))); n != 30 {
			return fmt.Sprintf("%d nodes", n)
		}
		return ""
	})
	volumes := manyVolumes(200)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := worker; i < len(volumes); i += 4 {
				c.volume(volumes[i])
			}
		})
	}
	wg.Wait()
	c.wantPlaced(volumes)
	diskful := 0
	for _, w := range volumes {
		for _, kind := range w.replicas {
			if kind == "Diskful" {
				diskful++
			}
		}
	}
	state := server.State()
	for call, n := range state.Requests {
		if n != diskful {
			t.Errorf("%s was called %d times for %d replicas", call, n, diskful)
		}
	}
	if len(state.Reservations) != diskful {
		t.Errorf("%d reservations for %d replicas", len(state.Reservations), diskful)
	}
	for _, r := range state.Reservations {
		if len(r.Pools) != 1 {
			t.Errorf("%s still holds %d groups", r.ID, len(r.Pools))
		}
	}
	quiet := edict.evaluations(scheduling)
	c.merge("Node", "", "n00", "", object{"metadata": object{"annotations": object{"a": "b"}}})
	if again := edict.evaluations(scheduling); again != quiet {
		t.Errorf("%v evaluations for nothing", again-quiet)
	}
}

// TestTheExtenderFails shows every way in which the extender can fail: no
// replica is placed wrongly, the condition says why, and all goes on when it
// works again.
func TestTheExtenderFails(t *testing.T) {
	t.Parallel()
	c := start(t, true)
	server, to := c.extender(c.storageNodes(4))
	c.run(asking(to)).running(eligibility, scheduling)
	const unreachable = "ExtenderUnavailable: Scheduling is temporarily unavailable: capacity scoring service is unreachable"
	const unconfirmed = "ExtenderUnavailable: Scheduling is temporarily unavailable: failed to confirm capacity reservation"
	const noRoom = "SchedulingFailed: 8 candidates (node×LVG) from 4 eligible nodes; 8 excluded: scoring (no capacity)"
	for i, fault := range []struct {
		mode extender.Mode
		want string
	}{
		{extender.Fail, unreachable}, {extender.Garbage, unreachable}, {extender.Huge, unreachable}, {extender.Stall, unreachable},
		{extender.NarrowFail, unconfirmed}, {extender.Lie, noRoom},
	} {
		if err := server.SetFault(extender.Fault{Mode: fault.mode}); err != nil {
			t.Fatal(err)
		}
		w := wanted{fmt.Sprintf("w%d", i), "Ignored", "Consistency", []string{"Diskful", "Diskful"}, nil}
		c.volume(w)
		eventually(t, string(fault.mode), func() string {
			for name, p := range c.replicas()[w.name] {
				if got := p.reason + ": " + p.message; got != fault.want || p.node != "" {
					return fmt.Sprintf("%s: %+v", name, p)
				}
			}
			return ""
		})
		if err := server.SetFault(extender.Fault{Mode: extender.None}); err != nil {
			t.Fatal(err)
		}
		if fault.mode == extender.Lie { // no failure, so nobody tries again; a changed size does
			c.merge("ReplicatedVolume", "", w.name, "", object{"spec": object{"size": "9Gi"}})
		}
		c.wantPlaced([]wanted{w})
	}
}

// TestPlacingWhileEverythingMoves lets replicas be deleted, touched by others
// and the pool change while volumes are placed.
func TestPlacingWhileEverythingMoves(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, true)
	server, to := c.extender(c.storageNodes(9))
	if err := server.SetFault(extender.Fault{Mode: extender.Stall, Delay: 5 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	c.run(asking(to)).running(eligibility, scheduling)
	var volumes []wanted
	for i := range 30 {
		volumes = append(volumes, wanted{fmt.Sprintf("m%02d", i), []string{"Ignored", "TransZonal"}[i%2], "Consistency", []string{"Diskful", "Diskful", "TieBreaker"}, nil})
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, w := range volumes {
			c.volume(w)
			c.delete("ReplicatedVolumeReplica", "", w.name+"-0")
		}
	})
	wg.Go(func() {
		for i := range 60 {
			c.merge("Node", "", "n08", "", object{"spec": object{"unschedulable": i%2 == 0}})
		}
	})
	wg.Wait()
	for i, w := range volumes {
		if i%3 == 0 { // a conflict, if it comes in time
			c.merge("ReplicatedVolumeReplica", "", w.name+"-1", "", object{"metadata": object{"labels": object{"touched": "yes"}}})
		}
		c.put(replica(w.name, 3, "Diskful"))
	}
	var ignored []wanted
	for _, w := range volumes {
		if w.topology == "Ignored" {
			ignored = append(ignored, w)
		} else { // the deleted replica may have counted for its zone
			c.wantPlaced([]wanted{{name: w.name, topology: "Ignored"}})
		}
	}
	c.wantPlaced(ignored)
}

// TestAnOperatorEditsThePolicy changes a bonus, a filter and the order in the
// policy file, and sees the next placement follow.
func TestAnOperatorEditsThePolicy(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, true)
	capacity := c.storageNodes(3)
	server, to := c.extender(capacity)
	shipped, err := os.ReadFile(filepath.Join(policies, scheduling+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// n00 has the most room, n02 is where the volume is to be attached.
	capacity[extender.Pool{Name: "n02-a"}], capacity[extender.Pool{Name: "n02-b"}] = extender.Capacity{Size: 1 << 40, Used: 9 << 36}, extender.Capacity{Size: 1 << 40, Used: 9 << 36}
	server.SetCapacity(capacity)
	edits := []struct{ what, from, to, want string }{
		{"as it is shipped", "", "", "n02-a"},
		{"no bonus", "{default: 1000, minimum: 0", "{default: 0, minimum: 0", "n00-a"},
		{"another order", `orderBy: [node.nodeName, group.name, `, `orderBy: ["0 - int(node.nodeName.substring(1))", "0 - int(group.name.endsWith('b') ? 1 : 0)", `, "n02-b"},
		{"another filter", `keep: "!node.unschedulable && node.nodeReady && node.agentReady"`, `keep: "!node.unschedulable && node.nodeReady && node.agentReady && node.nodeName == 'n01'"`, "n01-a"},
	}
	for i, e := range edits {
		text := strings.Replace(string(shipped), e.from, e.to, 1)
		if e.from != "" && text == string(shipped) {
			t.Fatalf("%s: nothing to replace", e.what)
		}
		if e.what == "another order" { // among groups of equal score
			text = strings.Replace(text, "{default: 1000, minimum: 0", "{default: 0, minimum: 0", 1)
			for p := range capacity {
				capacity[p] = extender.Capacity{Size: 1 << 40}
			}
			server.SetCapacity(capacity)
		}
		folder := t.TempDir()
		write(t, filepath.Join(folder, "edited.yaml"), text)
		if err := os.CopyFS(filepath.Join(folder, "schemas"), os.DirFS(crds)); err != nil {
			t.Fatal(err)
		}
		edict := c.run(func(o *run.Options) {
			asking(to)(o)
			o.Policies = []string{folder, filepath.Join(policies, eligibility+".yaml")}
		})
		edict.running(eligibility, scheduling)
		name := fmt.Sprintf("o%d", i)
		c.volume(wanted{name, "Ignored", "None", nil, []any{"n02"}})
		c.put(replica(name, 0, "Diskful"))
		eventually(t, e.what, func() string {
			if p := c.replicas()[name][name+"-0"]; p.group != e.want {
				return fmt.Sprintf("want %s, got %+v", e.want, p)
			}
			return ""
		})
		edict.stop()
	}
}
