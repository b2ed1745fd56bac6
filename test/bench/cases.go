package main

import (
	"context"
	"fmt"
	"time"

	"github.com/edict-dev/edict/test/bench/byhand"
	"github.com/edict-dev/edict/test/bench/edict"
	"github.com/edict-dev/edict/test/bench/measure"
	"github.com/edict-dev/edict/test/bench/objects"
	"github.com/edict-dev/edict/test/bench/scorer"
)

// spec is a case of some size.
type spec struct {
	Name     string `json:"name"`
	Nodes    int    `json:"nodes"`
	Topology string `json:"topology,omitempty"`
	// Lean says that objects are not copied, and answers and patches not encoded.
	Lean bool `json:"lean,omitempty"`
	// Goal is how many times the CPU time of Edict the other side is to take; 0 is
	// no goal.
	Goal float64 `json:"goal"`
	// Asleep asks that nothing is woken, and Allocs that not more than so many
	// allocations are made; 0 does not ask for that.
	Asleep bool    `json:"not_woken,omitempty"`
	Allocs float64 `json:"max_allocs,omitempty"`
	// least is the smallest number of nodes that the case works with.
	least int
	// sides makes both sides.
	sides func(context.Context, spec) (pair, error)
}

// pair is both sides of a case, and what they have sent.
type pair struct {
	edict, byHand measure.Side
	sent          [2]*writes
}

// label is the name with the rest of what tells a case from others.
func (s spec) label() string {
	out := s.Name
	if s.Lean {
		out += ", lean"
	}
	if s.Topology != "" {
		out += ", " + s.Topology
	}
	return out
}

// now is the clock of the controllers written by hand.
func now() time.Time { return objects.Now }

// systems makes systems of one case, as many as it needs.
type systems struct {
	ctx    context.Context //nolint:containedctx // that of one benchmark
	policy *edict.Policy
	spec   spec
	sent   *writes
}

// ours makes an engine.
func (s systems) ours() (system, error) {
	o := edict.Options{Send: s.sent.send, Plain: s.spec.Lean, Answers: edict.Bare{}}
	if !s.spec.Lean {
		client, err := edict.Client(transport)
		if err != nil {
			return nil, err
		}
		o.Answers = client
	}
	engine, err := edict.New(s.ctx, s.policy, o)
	return ours{engine}, err
}

// transport answers for the scheduler extender.
var transport = scorer.New()

// scheduler makes the controller that places replicas.
func (s systems) scheduler() (system, error) {
	cache := byhand.NewCache(!s.spec.Lean)
	c := &byhand.Scheduler{Cache: cache, Now: now}
	if s.spec.Lean {
		c.Extender, c.Patcher = edict.Bare{}, byhand.Plain{Send: s.sent.send}
	} else {
		c.Extender, c.Patcher = byhand.NewExtenderClient("http://extender.test", transport), byhand.Encoded{Send: s.sent.send}
	}
	return theirs{s.ctx, &byhand.System{Cache: cache, Controller: c}}, nil
}

// placingOf returns a function that makes both sides of a case of placing.
func placingOf(pools int, side func(*placing) measure.Side) func(context.Context, spec) (pair, error) {
	return func(ctx context.Context, s spec) (pair, error) {
		policy, err := edict.Load("replica-scheduling")
		if err != nil {
			return pair{}, err
		}
		world := shape{pools: pools, nodes: s.Nodes}
		a, b := &writes{}, &writes{}
		edictSide := &placing{shape: world, topology: s.Topology, sent: a, make: systems{ctx, policy, s, a}.ours}
		handSide := &placing{shape: world, topology: s.Topology, sent: b, make: systems{ctx, policy, s, b}.scheduler}
		return pair{side(edictSide), side(handSide), [2]*writes{a, b}}, nil
	}
}

// check runs some operations on both sides, and compares what they have sent.
func (p pair) check() error {
	for i, side := range []measure.Side{p.edict, p.byHand} {
		n := checked
		if b, ok := side.(measure.Bounded); ok {
			n = min(n, b.Max())
		}
		if err := side.Prepare(n); err != nil {
			return err
		}
		p.sent[i].keep = true
		for op := range n {
			if err := side.Run(op); err != nil {
				return err
			}
		}
		p.sent[i].keep = false
	}
	return compare(p.sent[0].kept, p.sent[1].kept)
}

// checked is how many operations are compared.
const checked = 2

func compare(ours, theirs []byhand.Write) error {
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d patches of Edict, and %d of the other side", len(ours), len(theirs))
	}
	for i := range ours {
		if err := same(ours[i], theirs[i]); err != nil {
			return err
		}
	}
	return nil
}
