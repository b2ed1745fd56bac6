package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/edict-dev/edict/test/bench/byhand"
	"github.com/edict-dev/edict/test/bench/edict"
	"github.com/edict-dev/edict/test/bench/objects"
)

// joining is one side of labelling nodes that join. The pool lists them already.
type joining struct {
	sys   system
	sent  *writes
	nodes []*event // those that join
}

// manyNodesJoin bounds the nodes of a batch.
const manyNodesJoin = 100

func (joining) Max() int { return manyNodesJoin }

func (j joining) Prepare(int) error { return removeAll(j.sys, j.nodes...) }

// Run takes in a node and labels it.
func (j joining) Run(i int) error {
	before := j.sent.count
	if _, err := j.sys.put(j.nodes[i]); err != nil {
		return err
	}
	if err := j.sys.reconcile(j.nodes[i].name); err != nil {
		return err
	}
	if n := j.sent.count - before; n != 1 {
		return fmt.Errorf("%d patches of a node that joins, want 1", n)
	}
	return nil
}

// labelSides makes both sides of labelling nodes.
func labelSides(ctx context.Context, s spec) (pair, error) {
	policy, err := edict.Load("agent-node-label")
	if err != nil {
		return pair{}, err
	}
	a, b := &writes{}, &writes{}
	made, err := edict.New(ctx, policy, edict.Options{Send: a.send, Still: true})
	if err != nil {
		return pair{}, err
	}
	engine := ours{made}
	cache := byhand.NewCache(!s.Lean)
	hand := theirs{ctx, &byhand.System{Cache: cache, Controller: &byhand.NodeLabel{Cache: cache, Send: b.send}}}
	joined := make([]*event, min(manyNodesJoin, s.Nodes))
	for i := range joined {
		joined[i] = newEvent(objects.Node(i, false))
	}
	pool := newEvent(objects.EligiblePool("pool", 0, s.Nodes, -1, 1))
	return pair{joining{engine, a, joined}, joining{hand, b, joined}, [2]*writes{a, b}}, errors.Join(both(pool, engine, hand)...)
}
