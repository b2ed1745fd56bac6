package main

import (
	"context"
	"testing"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/test/bench/objects"
)

// largest is the number of nodes that is meant to work.
const largest = 5000

// farFromLimit reports an error if an evaluation costs more than a quarter of the limit.
func farFromLimit(t *testing.T, cost uint64) {
	t.Helper()
	if cost == 0 || cost > expr.EvaluationCost/4 {
		t.Errorf("it costs %d units", cost)
	}
}

// TestALargePoolWorksUnderTheLimits calculates the nodes of a pool of the largest size
// under the limits as they are shipped: at first, and after one node has changed.
func TestALargePoolWorksUnderTheLimits(t *testing.T) {
	t.Chdir("../..")
	a, _, err := poolWorld(t.Context(), spec{Nodes: largest})
	if err != nil {
		t.Fatal(err)
	}
	engine := a.sys.(ours).engine
	a.sent.keep = true
	if err := a.reconcile(a.sys, 1); err != nil {
		t.Fatal(err)
	}
	cold := engine.Cost
	farFromLimit(t, engine.Cost)
	body, err := a.sent.kept[0].Decoded()
	if err != nil {
		t.Fatal(err)
	}
	list := body["status"].(map[string]any)["eligibleNodes"].([]any)
	if len(list) != largest || len(list[0].(map[string]any)["lvmVolumeGroups"].([]any)) != 2 {
		t.Fatalf("%d eligible nodes, the first is %v", len(list), list[0])
	}
	n := nodeChanged{a}
	if err := n.Prepare(1); err != nil {
		t.Fatal(err)
	}
	if err := n.Run(0); err != nil {
		t.Fatal(err)
	}
	if engine.Cost*10 > cold {
		t.Errorf("the cost is %d at first, and %d after one node has changed", cold, engine.Cost)
	}
}

// TestPlacingAmongManyCandidatesWorksUnderTheLimits places three replicas among 10,000
// candidates under the limits as they are shipped, with what is kept of the candidates
// and without.
func TestPlacingAmongManyCandidatesWorksUnderTheLimits(t *testing.T) {
	t.Chdir("../..")
	for name, sides := range map[string]func(context.Context, spec) (pair, error){"the first volume": coldly, "another volume": steadily} {
		t.Run(name, func(t *testing.T) {
			p, err := sides(t.Context(), spec{Nodes: largest, Topology: topologies[0]})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.edict.Prepare(1); err != nil {
				t.Fatal(err)
			}
			calls := transport.Calls
			if err := p.edict.Run(0); err != nil {
				t.Error(err)
			}
			if name == "another volume" { // the engine of the other case is gone
				farFromLimit(t, p.edict.(steady).sys.(ours).engine.Cost)
			}
			if n := transport.Calls - calls; n != 2*objects.Replicas {
				t.Errorf("%d calls of the scheduler extender", n)
			}
		})
	}
}

// TestHeartbeat: an update of a node that touches nothing that is read wakes no pool,
// and what it allocates, decoding included, does not grow with the object.
func TestHeartbeat(t *testing.T) {
	t.Chdir("../..")
	a, _, err := poolWorld(t.Context(), spec{Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	h := heartbeat{a}
	if err := h.Prepare(2); err != nil {
		t.Fatal(err)
	}
	i := 0
	got := testing.AllocsPerRun(100, func() {
		if err := h.Run(i); err != nil {
			t.Error(err)
		}
		i++
	})
	if got > heartbeatAllocs {
		t.Errorf("a heartbeat takes %v allocations, want at most %d", got, heartbeatAllocs)
	}
}

// heartbeatAllocs are the event, the name that is looked for, the version, the object, and
// what an informer stores it as.
const heartbeatAllocs = 5

// TestPlacedVolumesAreNotWoken: a node of the pool that changes wakes no volume whose
// replicas are placed.
func TestPlacedVolumesAreNotWoken(t *testing.T) {
	t.Chdir("../..")
	p, err := lookChanged(t.Context(), spec{Nodes: 9, Topology: topologies[0]})
	if err != nil {
		t.Fatal(err)
	}
	side := p.edict.(placedChanged)
	if err := side.Prepare(8); err != nil {
		t.Fatal(err)
	}
	if n := side.Woken(); n != 0 {
		t.Errorf("%d of 8 volumes are woken", n)
	}
}

// TestANodeThatChangesCostsAsMuchInALargePool: what is allocated after one node has
// changed hardly grows with the pool.
func TestANodeThatChangesCostsAsMuchInALargePool(t *testing.T) {
	t.Chdir("../..")
	of := func(nodes int) float64 {
		s := spec{Nodes: nodes}
		p, err := poolChanged(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		const ops = 20
		n := p.edict.(nodeChanged)
		if err := n.Prepare(ops + 1); err != nil {
			t.Fatal(err)
		}
		i := 0
		return testing.AllocsPerRun(ops, func() {
			if err := n.Run(i); err != nil {
				t.Error(err)
			}
			i++
		})
	}
	if few, many := of(50), of(1000); many > 1.5*few {
		t.Errorf("%v allocations in a pool of 50 nodes, %v in one of 1,000", few, many)
	}
}
