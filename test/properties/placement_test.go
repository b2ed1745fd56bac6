package properties

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/worlds"
)

// placing is a world with a pool and one new volume.
type placing struct {
	topology string
	volume   string
	zones    map[string]string // by node
	diskful  int
	objects  []simulate.Object
}

func newPlacing(seed uint64) *placing {
	r := rand.New(rand.NewPCG(seed, 2))
	p := &placing{topology: []string{"Ignored", "Zonal", "TransZonal"}[r.IntN(3)], zones: map[string]string{}, diskful: 1 + r.IntN(5), volume: quantity(r)}
	var nodes []any
	for i := range 1 + r.IntN(12) {
		name, zone := fmt.Sprintf("node-%d", i), fmt.Sprintf("zone-%d", r.IntN(4))
		p.zones[name] = zone
		groups := []any{}
		for g := range 1 + r.IntN(3) {
			groups = append(groups, object{"name": fmt.Sprintf("vg-%d-%d", i, g), "unschedulable": false, "ready": true})
		}
		nodes = append(nodes, object{"nodeName": name, "zoneName": zone, "nodeReady": true, "agentReady": true, "unschedulable": false, "lvmVolumeGroups": groups})
	}
	r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	const storage = "storage.deckhouse.io/v1alpha1"
	p.objects = append(p.objects,
		object{"apiVersion": storage, "kind": "ReplicatedStoragePool", "metadata": object{"name": "pool"}, "spec": object{"type": "LVM"}, "status": object{"eligibleNodes": nodes}},
		object{"apiVersion": storage, "kind": "ReplicatedVolume", "metadata": object{"name": "v"}, "spec": object{"size": p.volume}, "status": object{"configuration": object{
			"topology": p.topology, "replication": "ConsistencyAndAvailability", "storagePoolName": "pool",
		}}})
	for i := range p.diskful + r.IntN(3) {
		kind := "Diskful"
		if i >= p.diskful {
			kind = "TieBreaker"
		}
		p.objects = append(p.objects, object{
			"apiVersion": storage, "kind": "ReplicatedVolumeReplica", "metadata": object{"name": fmt.Sprintf("v-%d", i)},
			"spec": object{"replicatedVolumeName": "v", "type": kind},
		})
	}
	return p
}

// quantity returns one of any form that the API server takes.
func quantity(r *rand.Rand) string {
	units := []string{"", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi", "m", "e3", "E9"}
	number := strconv.Itoa(1 + r.IntN(2000))
	if r.IntN(2) == 0 {
		number += fmt.Sprintf(".%d", r.IntN(1000))
	}
	return number + units[r.IntN(len(units))]
}

type object = map[string]any

// run places the volume, and returns the nodes of its replicas by name.
func (p *placing) run(t *testing.T, b *source.Bundle, objects []simulate.Object) (diskful, all map[string]string, shown []simulate.Object) {
	t.Helper()
	answers, err := simulate.ParseAnswers([]byte(`{"extender": {"default": 5}}`))
	if err != nil {
		t.Fatal(err)
	}
	sim := simulate.New(t.Context(), simulate.Options{Policies: b.Policies, Schemas: b.Schemas, Objects: objects, Start: worlds.Start, Answers: answers})
	sim.Run(t.Context(), nil, -1)
	result := sim.Result()
	if len(result.Errors) > 0 {
		t.Fatalf("%v", result.Errors)
	}
	p.sized(t, result.Calls)
	diskful, all = map[string]string{}, map[string]string{}
	for _, o := range result.Objects {
		if o["kind"] != "ReplicatedVolumeReplica" {
			continue
		}
		delete(o["metadata"].(object), "uid") // they count the objects as they came
		delete(o["metadata"].(object), "resourceVersion")
		shown = append(shown, o)
		name, node := text(o, "metadata", "name"), text(o, "spec", "nodeName")
		if node == "" {
			continue
		}
		all[name] = node
		if text(o, "spec", "type") == "Diskful" {
			diskful[name] = node
		}
	}
	return diskful, all, shown
}

// sized holds the sizes that the extender was asked for against apimachinery.
func (p *placing) sized(t *testing.T, calls []simulate.Call) {
	t.Helper()
	parsed := resource.MustParse(p.volume)
	for _, c := range calls {
		if got := c.Request.(object)["size"]; c.Builtin == "extender.filterAndScore" && got != parsed.Value() {
			t.Errorf("%s became %v, want %d", p.volume, got, parsed.Value())
		}
	}
}

func (p *placing) perZone(replicas map[string]string) map[string]int {
	out := map[string]int{}
	for _, node := range replicas {
		out[p.zones[node]]++
	}
	return out
}

// size returns how many nodes each zone has.
func (p *placing) size() map[string]int {
	out := map[string]int{}
	for _, zone := range p.zones {
		out[zone]++
	}
	return out
}

// TestPlacements holds what must be true of every placement in every world.
func TestPlacements(t *testing.T) {
	b, err := source.Load([]string{filepath.Join("..", "..", "policies", "replica-scheduling.yaml")}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen, count := map[string]int{}, budget.Of(80, 400)
	for seed := range uint64(count) {
		p := newPlacing(seed)
		diskful, all, shown := p.run(t, b, p.objects)
		if n := len(slices.Compact(slices.Sorted(maps.Values(all)))); n != len(all) {
			t.Errorf("world %d: two replicas on one node: %v", seed, all)
		}
		p.holds(t, seed, diskful, seen)
		slices.Reverse(p.objects)
		_, again, reversed := p.run(t, b, p.objects)
		if d := cmp.Diff(shown, reversed); d != "" || !maps.Equal(all, again) {
			t.Errorf("world %d: the order of the objects changes the placement:\n%s", seed, d)
		}
	}
	for _, topology := range []string{"Ignored", "Zonal", "TransZonal", "Zonal, no zone has room for all"} {
		if seen[topology] < count/20 {
			t.Errorf("%s is tested %d times only", topology, seen[topology])
		}
	}
}

// holds checks the promise of the volume's topology.
func (p *placing) holds(t *testing.T, seed uint64, diskful map[string]string, seen map[string]int) {
	seen[p.topology]++
	zones, size := p.perZone(diskful), p.size()
	switch p.topology {
	case "Ignored":
		if len(diskful) != min(p.diskful, len(p.zones)) {
			t.Errorf("world %d: %d of %d replicas on %d nodes", seed, len(diskful), p.diskful, len(p.zones))
		}
	case "Zonal":
		if len(zones) > 1 {
			t.Errorf("world %d: a zonal volume in several zones: %v", seed, diskful)
		}
		// The penalty looks for a zone that takes what replication asks for: 3.
		fits := slices.ContainsFunc(slices.Collect(maps.Values(size)), func(n int) bool { return n >= 3 })
		switch wanted := min(p.diskful, 3); {
		case fits && len(diskful) < wanted:
			t.Errorf("world %d: a zone has room for %d, placed are %d", seed, wanted, len(diskful))
		case !fits:
			seen["Zonal, no zone has room for all"]++
		}
	case "TransZonal":
		for a, n := range size {
			for b := range size {
				// A zone is behind another by two only when it is full.
				if zones[a]+1 < zones[b] && zones[a] < n {
					t.Errorf("world %d: zone %s has %d replicas and room, %s has %d", seed, a, zones[a], b, zones[b])
				}
			}
		}
	}
}
