package schedules

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/worlds"
)

// scenario is a set of policies with the worlds they run in.
type scenario struct {
	name     string
	bundle   *source.Bundle
	guard    guard.Guard
	accesses map[string][]plan.Access
	// generate makes a world, and so many changes to it.
	generate func(seed uint64, changes int) ([]object, []alteration)
	// runs finishes what Pods do, and reports whether there was anything to do.
	runs func(b *bench) bool
}

var (
	shipped = filepath.Join("..", "..", "..", "policies")
	faults  = filepath.Join("..", "..", "fault", "testdata")
)

func scenarios(t *testing.T) []*scenario {
	t.Helper()
	file := func(name string) string { return filepath.Join(shipped, name) }
	return []*scenario{
		load(t, "modules", modulesWorld, file("kmm-module.yaml"), file("kmm-node-modules.yaml"), file("allowances.yaml")),
		load(t, "storage", storageWorld, file("agent-node-label.yaml"), file("storage-pool-eligibility.yaml")),
		load(t, "storage", storageWorld, file("agent-node-label.yaml"), file("storage-pool-eligibility.yaml")),
		load(t, "copies", copiesWorld, faults),
	}
}

func load(t *testing.T, name string, generate func(uint64, int) ([]object, []alteration), paths ...string) *scenario {
	t.Helper()
	b, err := source.Load(paths, source.Options{Schemas: []string{filepath.Join(shipped, "schemas")}})
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := &scenario{name: name, bundle: b, guard: guard.New(b.Allowances).Assuming(), accesses: map[string][]plan.Access{}, generate: generate, runs: runWorkers}
	for _, p := range b.Policies {
		out.accesses[p.Name] = p.Accesses(plan.InForce)
	}
	return out
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// node makes a node for the worlds of copies and modules.
func node(r *rand.Rand, name string, status ...string) object {
	ready := object{"type": "Ready", "status": pick(r, status...), "lastTransitionTime": "2026-02-01T00:00:00Z"}
	return object{
		"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": object{"zone": pick(r, "a", "b"), "kmm": "yes"}},
		"status": object{"conditions": []any{ready}, "nodeInfo": object{"kernelVersion": pick(r, "6.1.0", "6.2.0"), "bootID": "boot-1"}},
	}
}

func nodeName(r *rand.Rand) string { return fmt.Sprintf("node-%d", r.IntN(4)) }

// copiesWorld is that of the cases on a real control plane.
func copiesWorld(seed uint64, changes int) (world []object, then []alteration) {
	r := rand.New(rand.NewPCG(seed, 21))
	source := func() object {
		return object{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"namespace": "source", "name": fmt.Sprintf("map-%d", r.IntN(4))},
			"data": object{"zone": pick(r, "a", "b"), "text": fmt.Sprint(r.IntN(100))},
		}
	}
	for range 3 {
		world = append(world, node(r, nodeName(r), "True", "True", "False"), source())
	}
	for range changes {
		o := pick(r, node(r, nodeName(r), "True", "True", "False"), source(), source())
		then = append(then, alteration{o, r.IntN(4) == 0})
		if r.IntN(4) == 0 { // others delete what a policy has made
			copied := source()
			if o["kind"] == "ConfigMap" {
				metadataOf(copied)["name"] = metadataOf(o)["name"]
			}
			metadataOf(copied)["namespace"] = "target"
			then = append(then, alteration{copied, true})
		}
	}
	return world, then
}

// storageWorld has pools, agents and what runs on nodes that come and go, and
// volume groups that stay: a pool of which one is missing keeps what it had.
func storageWorld(seed uint64, changes int) (world []object, then []alteration) {
	g := worlds.New(seed)
	g.Names = 3
	for i := range g.Names {
		world = append(world, g.Group(fmt.Sprintf("vg-%d", i)))
	}
	for range 8 {
		world = append(world, storageObject(g))
	}
	for range changes {
		o := storageObject(g)
		then = append(then, alteration{o, o["kind"] != "LVMVolumeGroup" && g.IntN(5) == 0})
	}
	return world, then
}

func storageObject(g *worlds.Generator) object {
	switch g.IntN(5) {
	case 0:
		return g.Group(fmt.Sprintf("vg-%d", g.IntN(3)))
	case 1:
		return g.Agent(fmt.Sprintf("agent-%d", g.IntN(3)))
	case 2:
		return g.Resource(fmt.Sprintf("res-%d", g.IntN(3)))
	case 3:
		return pool(g)
	default:
		return g.Node(fmt.Sprintf("node-%d", g.IntN(3)))
	}
}

// pool makes a pool in which nothing is wrong.
func pool(g *worlds.Generator) object {
	g.Valid = true
	o := g.Pool(fmt.Sprintf("pool-%d", g.IntN(2)))
	g.Valid = false
	spec, _ := o["spec"].(object)
	groups, _ := spec["lvmVolumeGroups"].([]any)
	spec["type"] = "LVM"
	spec["lvmVolumeGroups"] = slices.DeleteFunc(groups, func(v any) bool { return v.(object)["name"] == "vg-missing" })
	return o
}

// runWorkers lets the worker Pods succeed that have not.
func runWorkers(b *bench) (done bool) {
	for _, o := range b.server.List() {
		_, worker := apiserver.Labels(o)["kmm.node.kubernetes.io/worker-action"]
		if status, _ := o["status"].(object); !worker || status["phase"] != nil || metadataOf(o)["deletionTimestamp"] != nil {
			continue
		}
		ended := object{"terminated": object{"exitCode": int64(0), "finishedAt": b.clock.UTC().Format(time.RFC3339)}}
		status := object{"phase": "Succeeded", "containerStatuses": []any{object{"name": "worker", "restartCount": int64(0), "state": ended}}}
		_, err := b.server.Patch(idOf(o), object{"status": status}, apiserver.Options{Manager: others, Subresource: "status"})
		done = done || err == nil
	}
	return done
}

// modulesWorld has kernel modules that come and go on nodes that change. All nodes are
// ready: what is loaded on one that is not stays as it was, whatever that is.
func modulesWorld(seed uint64, changes int) (world []object, then []alteration) {
	r := rand.New(rand.NewPCG(seed, 23))
	module := func() object {
		modprobe := object{"moduleName": "driver", "dirName": "/opt"}
		mapping := object{"regexp": "^6[.]", "containerImage": pick(r, "img:1", "img:2") + "-$KERNEL_FULL_VERSION"}
		return object{
			"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", "metadata": object{"namespace": "drivers", "name": pick(r, "driver", "other")},
			"spec": object{"selector": object{"kmm": "yes"}, "moduleLoader": object{"container": object{"modprobe": modprobe, "kernelMappings": []any{mapping}}}},
		}
	}
	name := func() string { return fmt.Sprintf("node-%d", r.IntN(2)) }
	world = append(world, node(r, "node-0", "True"))
	world = append(world, module())
	for range changes / 2 {
		o := pick(r, node(r, name(), "True"), module())
		then = append(then, alteration{o, o["kind"] == "Module" && r.IntN(3) == 0})
	}
	return world, then
}
