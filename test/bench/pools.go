package main

import (
	"context"
	"errors"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/edict-dev/edict/test/bench/byhand"
	"github.com/edict-dev/edict/test/bench/edict"
	"github.com/edict-dev/edict/test/bench/measure"
	"github.com/edict-dev/edict/test/bench/objects"
)

// poolSide is one side of calculating the nodes of a pool.
type poolSide struct {
	sys     system
	sent    *writes
	nodes   int
	turn    int      // number of the last change
	changes []*event // those of the operations of a batch
	// again makes the system know nothing but its objects.
	again func() (next system, forget func())
	fresh []system // those of a batch
	ends  []func()
}

// poolWorld makes both sides, with nodes, volume groups, agents and a pool.
func poolWorld(ctx context.Context, s spec) (a, b *poolSide, err error) {
	policy, err := edict.Load("storage-pool-eligibility")
	if err != nil {
		return nil, nil, err
	}
	a, b = &poolSide{sent: &writes{}, nodes: s.Nodes}, &poolSide{sent: &writes{}, nodes: s.Nodes}
	engine, err := edict.New(ctx, policy, edict.Options{Send: a.sent.send, Still: true})
	if err != nil {
		return nil, nil, err
	}
	cache := byhand.NewCache(!s.Lean)
	a.sys = ours{engine}
	b.sys = theirs{ctx, &byhand.System{Cache: cache, Controller: &byhand.Eligibility{Cache: cache, Patcher: byhand.Encoded{Send: b.sent.send}, Now: now}}}
	a.again = func() (system, func()) { e := engine.Again(policy); return ours{e}, e.Forget }
	b.again = func() (system, func()) { return b.sys, func() {} }
	for i := range s.Nodes {
		for _, o := range []objects.Object{objects.Node(i, false), objects.Group(i, 0), objects.Group(i, 1), objects.AgentPod(i)} {
			if err := errors.Join(both(newEvent(o), a.sys, b.sys)...); err != nil {
				return nil, nil, err
			}
		}
	}
	return a, b, errors.Join(both(newEvent(objects.Pool(s.Nodes)), a.sys, b.sys)...)
}

func both(e *event, to ...system) (out []error) {
	for _, s := range to {
		_, err := s.put(e)
		out = append(out, err)
	}
	return out
}

// settle has the pool calculated, and takes in the status that was written.
func settle(s spec, sides ...*poolSide) error {
	for _, side := range sides {
		side.sent.keep = true
		err := side.reconcile(side.sys, 1)
		side.sent.keep = false
		if err != nil {
			return err
		}
		text, err := jsonpatch.MergePatch(objects.Text(objects.Pool(s.Nodes)), side.sent.kept[0].Body)
		if err != nil {
			return err
		}
		side.sent.kept = nil
		if _, err := side.sys.put(eventOf("ReplicatedStoragePool", "pool", text)); err != nil {
			return err
		}
		if err := side.reconcile(side.sys, 0); err != nil {
			return err
		}
	}
	return nil
}

// reconcile calculates the pool, and expects so many patches.
func (p *poolSide) reconcile(sys system, want int) error {
	before := p.sent.count
	if err := sys.reconcile("pool"); err != nil {
		return err
	}
	if n := p.sent.count - before; n != want {
		return fmt.Errorf("%d patches of the pool, want %d", n, want)
	}
	return nil
}

// nodeChanged takes in that one node has changed, and calculates the pool. No two
// changes are the same.
type nodeChanged struct{ *poolSide }

func (nodeChanged) Max() int { return 256 }

func (n nodeChanged) Prepare(ops int) error {
	n.poolSide.changes = n.poolSide.changes[:0]
	for range ops {
		n.poolSide.turn++
		n.poolSide.changes = append(n.poolSide.changes, newEvent(zoned(n.nodes/2, fmt.Sprintf("zone-%d", 10+n.turn))))
	}
	return nil
}

func (n nodeChanged) Run(i int) error {
	woken, err := n.sys.put(n.changes[i])
	if err != nil {
		return err
	}
	if woken != 1 {
		return fmt.Errorf("%d pools were woken, want 1", woken)
	}
	return n.reconcile(n.sys, 1)
}

// firstLook calculates the pool for the first time.
type firstLook struct{ *poolSide }

func (firstLook) Max() int { return manySystems }

func (f firstLook) Prepare(n int) error {
	f.fresh, f.ends = make([]system, n), make([]func(), n)
	for i := range n {
		f.fresh[i], f.ends[i] = f.again()
	}
	return nil
}

func (f firstLook) Run(i int) error { return f.reconcile(f.fresh[i], 1) }

// Clear makes the store forget the systems of the batch.
func (f firstLook) Clear() {
	for _, end := range f.ends {
		end()
	}
	f.fresh, f.ends = nil, nil
}

// heartbeat takes in that a node has reported, which changes nothing that is read.
type heartbeat struct{ *poolSide }

func (h heartbeat) Prepare(int) error {
	if len(h.changes) == 0 {
		for _, at := range []string{"2026-03-01T12:00:00Z", "2026-03-01T12:00:10Z"} {
			h.poolSide.changes = append(h.poolSide.changes, newEvent(objects.Heartbeat(h.nodes/2, at)))
		}
	}
	return nil
}

func (h heartbeat) Run(i int) error {
	woken, err := h.sys.put(h.changes[i%2])
	if err == nil && woken > 0 {
		return fmt.Errorf("%d pools were woken, want none", woken)
	}
	return err
}

// zoned returns a node in a zone that the list of the pool does not have it in.
func zoned(i int, zone string) objects.Object {
	o := objects.Node(i, false)
	o["metadata"].(objects.Object)["labels"].(objects.Object)["topology.kubernetes.io/zone"] = zone
	return o
}

// poolsOf returns a function that makes both sides of a case of pools. In settled
// ones the status is calculated.
func poolsOf(settled bool, side func(*poolSide) measure.Side) func(context.Context, spec) (pair, error) {
	return func(ctx context.Context, s spec) (pair, error) {
		a, b, err := poolWorld(ctx, s)
		if err != nil {
			return pair{}, err
		}
		if settled {
			err = settle(s, a, b)
		}
		return pair{side(a), side(b), [2]*writes{a.sent, b.sent}}, err
	}
}
