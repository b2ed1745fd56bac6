package record_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/test/fixture"
	"github.com/edict-dev/edict/test/race"
)

const poolPolicy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: pool}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  inputs:
    - {name: nodes, apiVersion: v1, kind: Node}
  variables:
    - {name: ready, forEach: inputs.nodes, as: n, when: '!n.?spec.unschedulable.orValue(false)', value: '${n.metadata.name}'}
  rules:
    - {name: count, do: [{annotations: {set: {ready: "${string(size(variables.ready))}"}}}]}
`

// TestRetained bounds what a full log holds on to: each record has the state of the
// read model on which it was decided, and one of 5,000 nodes has changed from each
// to the next.
func TestRetained(t *testing.T) {
	if race.Enabled {
		t.Skip("makes 5,000 nodes, which takes long with the race detector")
	}
	const nodes, kept, bound = 5000, 1024, 32 << 20
	with, without := heapAfter(t, nodes, kept+50, kept), heapAfter(t, nodes, kept+50, 0)
	t.Logf("%d records: %.1f MiB, %.0f KiB each", kept, float64(with-without)/(1<<20), float64(with-without)/kept/(1<<10))
	if with-without > bound {
		t.Errorf("%d records hold %d bytes, more than %d", kept, with-without, bound)
	}
}

// heapAfter returns the heap after so many changes of nodes, with a log of a size.
func heapAfter(t *testing.T, nodes, changes, size int) int64 {
	t.Helper()
	objects := []simulate.Object{fixture.Object("v1", "ConfigMap", "n", "pool")}
	for n := range nodes {
		objects = append(objects, fixture.Object("v1", "Node", "", fmt.Sprint("node-", n)))
	}
	log := &record.Log{Size: size}
	sim := fixture.Simulation(t, fixture.Compiled(t, poolPolicy), objects, log)
	sim.Settle(t.Context())
	for n := range changes {
		sim.Merge(simulate.Object{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": fmt.Sprint("node-", n)}, "spec": map[string]any{"unschedulable": true}})
		sim.Settle(t.Context())
	}
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	runtime.KeepAlive(log)
	runtime.KeepAlive(sim)
	return int64(stats.HeapAlloc)
}
