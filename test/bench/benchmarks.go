package main

import "testing"

// benchNodeChange changes one node and evaluates: taking the event in, routing
// it, and deciding.
func benchNodeChange(b *testing.B, e *edict) {
	changed := [2]object{node(2500, true), node(2500, false)}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if e.put(changed[i%2]) != 1 {
			b.Fatal("the pool was not woken")
		}
		d := e.controller.Evaluate(e.ctx, e.key, now)
		if len(d.Problems) > 0 || i%2 == 0 && len(d.Effects) == 0 {
			b.Fatalf("%v, %d effects", d.Problems, len(d.Effects))
		}
	}
	b.StopTimer()
	e.put(node(2500, false))
}

// benchByHand is the hand-written computation after one node changed. It
// computes everything, as such controllers do.
func benchByHand(b *testing.B, p *storagePool, c *caches) {
	b.ReportAllocs()
	for i := range b.N {
		c.nodes[2500].Spec.Unschedulable = i%2 == 0
		_, changed, next := eligibility(p, c, now)
		if !next.IsZero() || changed != (i%2 == 0) {
			b.Fatal("wrong")
		}
	}
	c.nodes[2500].Spec.Unschedulable = false
}

// benchFresh evaluates without a memory.
func benchFresh(b *testing.B, e *edict) {
	b.ReportAllocs()
	for range b.N {
		if d := e.fresh(); len(d.Problems) > 0 {
			b.Fatal(d.Problems)
		}
	}
}

// benchForced evaluates although nothing has changed.
func benchForced(b *testing.B, e *edict) {
	e.controller.Evaluate(e.ctx, e.key, now)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		e.controller.Evaluate(e.ctx, e.key, now)
	}
}

// benchHeartbeat takes in an update that touches nothing that is read.
func benchHeartbeat(b *testing.B, e *edict) {
	beats := [2]object{node(100, false), node(100, false)}
	conditions := beats[1]["status"].(object)["conditions"].([]any)
	conditions[3].(object)["lastHeartbeatTime"] = "2026-03-01T12:00:00Z"
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if e.put(beats[i%2]) != 0 {
			b.Fatal("a heartbeat woke the pool")
		}
	}
}
