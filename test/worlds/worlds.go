// Package worlds generates small storage clusters and things that happen to
// them, for properties that must hold in every world. The same seed gives the
// same world.
package worlds

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"time"
)

// Object is a manifest as plain JSON values.
type Object = map[string]any

// Start is the time at which the worlds begin.
var Start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const storage = "storage.deckhouse.io/v1alpha1"

// AgentNamespace is where the agents' Pods run.
const AgentNamespace = "d8-sds-replicated-volume"

// Generator makes objects. It remembers nothing but its random numbers.
type Generator struct {
	r *rand.Rand
	// Names is how many names of each kind there are.
	Names int
	// Valid keeps to what the API server accepts, and to times that are not
	// close to Start: for worlds that run on a real one.
	Valid bool
}

// New makes a generator.
func New(seed uint64) *Generator {
	return &Generator{r: rand.New(rand.NewPCG(seed, 1)), Names: 6}
}

func (g *Generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func pick[T any](g *Generator, list ...T) T { return list[g.r.IntN(len(list))] }

func (g *Generator) name(prefix string) string {
	return fmt.Sprintf("%s-%d", prefix, g.r.IntN(g.Names))
}

// World makes a whole cluster.
func (g *Generator) World() []Object {
	var out []Object
	for i := range g.Names {
		if g.chance(90) {
			out = append(out, g.Node(fmt.Sprintf("node-%d", i)))
		}
		if g.chance(80) {
			out = append(out, g.Group(fmt.Sprintf("vg-%d", i)))
		}
		if g.chance(70) {
			out = append(out, g.Agent(fmt.Sprintf("agent-%d", i)))
		}
		if g.chance(20) {
			out = append(out, g.Resource(fmt.Sprintf("res-%d", i)))
		}
	}
	for i := range 2 {
		out = append(out, g.Pool(fmt.Sprintf("pool-%d", i)))
	}
	for i := range 3 {
		out = append(out, g.Volume(fmt.Sprintf("vol-%d", i)))
		for n := range 2 + g.r.IntN(4) {
			out = append(out, g.Replica(fmt.Sprintf("vol-%d-%d", i, n)))
		}
	}
	return out
}

// Any makes an object of any kind, with a name that the world may have.
func (g *Generator) Any() Object {
	switch g.r.IntN(9) {
	case 6:
		return g.Volume(fmt.Sprintf("vol-%d", g.r.IntN(4)))
	case 7, 8:
		return g.Replica(fmt.Sprintf("vol-%d-%d", g.r.IntN(4), g.r.IntN(6)))
	case 0:
		return g.Group(g.name("vg"))
	case 1:
		return g.Agent(g.name("agent"))
	case 2:
		return g.Resource(g.name("res"))
	case 3:
		return g.Pool(fmt.Sprintf("pool-%d", g.r.IntN(3)))
	default:
		return g.Node(g.name("node"))
	}
}

// ago is an instant before the start, sometimes one at which a grace period
// ends exactly.
func (g *Generator) ago() string {
	minutes := pick(g, 1, 5, 9, 10, 11, 30, 600)
	if g.Valid {
		minutes = pick(g, 300, 600, 900)
	}
	return Start.Add(-time.Duration(minutes) * time.Minute).Format(time.RFC3339)
}

// Node makes a node.
func (g *Generator) Node(name string) Object {
	labels := Object{"kubernetes.io/hostname": name}
	if g.chance(85) {
		labels["topology.kubernetes.io/zone"] = pick(g, "a", "b", "c", "")
	}
	if g.chance(50) {
		labels["disk"] = pick(g, "ssd", "hdd")
	}
	if g.chance(30) {
		labels["storage.deckhouse.io/sds-replicated-volume-node"] = pick(g, "", "x")
	}
	node := Object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": Object{"name": name, "labels": labels, "creationTimestamp": g.ago()},
		"spec":     Object{}, "status": Object{},
	}
	if g.chance(20) {
		node["spec"] = Object{"unschedulable": true}
	}
	if g.chance(90) || g.Valid { // without one the creation counts, which a server sets itself
		node["status"] = Object{"conditions": g.nodeConditions()}
	}
	return node
}

func (g *Generator) nodeConditions() []any {
	ready := Object{"type": "Ready", "status": pick(g, "True", "True", "False", "Unknown"), "reason": "x", "message": ""}
	if g.chance(90) || g.Valid {
		ready["lastTransitionTime"] = g.ago()
	}
	out := []any{ready}
	if g.chance(40) {
		out = append([]any{Object{"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": g.ago()}}, out...)
	}
	return out
}

// Group makes a volume group.
func (g *Generator) Group(name string) Object {
	spec := Object{"type": "Local", "actualVGNameOnTheNode": name}
	spec["local"] = Object{"nodeName": pick(g, g.name("node"), g.name("node"), "gone")}
	if !g.Valid && g.chance(5) {
		delete(spec, "local")
	}
	thin := []any{}
	for _, pool := range []string{"thin-a", "thin-b"} {
		if g.chance(60) {
			thin = append(thin, Object{"name": pool, "size": "10Gi"})
		}
	}
	spec["thinPools"] = thin
	metadata := Object{"name": name}
	if g.chance(25) {
		key := pick(g, "storage.deckhouse.io/lvmVolumeGroupUnschedulable", "sds-replicated-volume.deckhouse.io/unschedulable", "other")
		metadata["annotations"] = Object{key: pick(g, "", "false")}
	}
	status := Object{"thinPools": []any{Object{"name": "thin-a", "ready": g.chance(70)}, Object{"name": "thin-b", "ready": g.chance(70)}}}
	if g.chance(90) {
		status["conditions"] = []any{Object{"type": "Ready", "status": pick(g, "True", "True", "False"), "reason": "x", "message": "", "lastTransitionTime": g.ago()}}
	}
	return Object{"apiVersion": storage, "kind": "LVMVolumeGroup", "metadata": metadata, "spec": spec, "status": status}
}

// Agent makes an agent's Pod, sometimes one that is none.
func (g *Generator) Agent(name string) Object {
	namespace := AgentNamespace
	if g.chance(10) {
		namespace = "default"
	}
	spec := Object{"containers": []any{Object{"name": "agent", "image": "agent:1"}}}
	if g.chance(95) {
		spec["nodeName"] = g.name("node")
	}
	pod := Object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": Object{"name": name, "namespace": namespace, "labels": Object{"app": pick(g, "agent", "agent", "agent", "other")}},
		"spec":     spec, "status": Object{"phase": "Running"},
	}
	if g.chance(90) {
		pod["status"] = Object{"phase": "Running", "conditions": []any{Object{"type": "Ready", "status": pick(g, "True", "False")}}}
	}
	return pod
}

// Resource makes a DRBDResource.
func (g *Generator) Resource(name string) Object {
	return Object{"apiVersion": storage, "kind": "DRBDResource", "metadata": Object{"name": name}, "spec": Object{
		"nodeName": g.name("node"), "state": "Up", "type": "Diskful", "nodeID": int64(0), "systemNetworks": []any{"Internal"},
		"size": "1Gi", "lvmLogicalVolumeName": "llv-" + name,
	}}
}

// Mutate changes an object in one small way: sometimes one that nobody reads.
func (g *Generator) Mutate(o Object) Object {
	next := g.again(o)
	if g.chance(70) {
		return next
	}
	out := maps.Clone(o)
	metadata := maps.Clone(o["metadata"].(Object))
	metadata["annotations"] = Object{"heartbeat": fmt.Sprint(g.r.IntN(1000))}
	out["metadata"] = metadata
	return out
}

// again makes an object of the same name anew.
func (g *Generator) again(o Object) Object {
	name := o["metadata"].(Object)["name"].(string)
	switch o["kind"] {
	case "Node":
		return g.Node(name)
	case "LVMVolumeGroup":
		return g.Group(name)
	case "Pod":
		return g.Agent(name)
	case "DRBDResource":
		return g.Resource(name)
	case "ReplicatedVolume":
		return g.Volume(name)
	case "ReplicatedVolumeReplica":
		return g.Replica(name)
	default:
		return g.Pool(name)
	}
}

// IntN returns a random number below n.
func (g *Generator) IntN(n int) int { return g.r.IntN(n) }
