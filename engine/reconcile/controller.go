package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// Controller reconciles the keys of one policy. It is safe for concurrent use
// with different keys; one key must not be reconciled twice at once.
type Controller struct {
	Policy *plan.Policy
	group  *Group
	grants *guard.Grants
	reads  reads
	shared eval.Shared
	counts *observe.Counts
	shadow *shadow
	inbox  *inbox
	known  known
	// brake says what is written now; nil writes everything.
	brake *brake.Policy
}

func newController(g *Group, p *plan.Policy, counts *observe.Counts) *Controller {
	grants := g.guard.Load().Of(p)
	if grants.Values() {
		p.SeeValues(schema.Secret)
	}
	c := &Controller{
		Policy: p, grants: grants, counts: counts, shadow: newShadow(p), reads: newReads(p, g.WatchSelector, g.store), group: g,
		inbox: newInbox(),
	}
	c.known.init(g, counts)
	return c
}

// Evaluate decides about a key without writing anything.
func (c *Controller) Evaluate(ctx context.Context, key eval.Key, now time.Time) *eval.Decision {
	snapshot := c.group.store.Snapshot()
	object := c.reads.primary(snapshot, key)
	return c.evaluate(ctx, c.input(key, now, snapshot, object, c.known.intents.leftover(key, object != nil, c.reads.exists(snapshot, key), now, false)))
}

// Input returns what an evaluation of a key depends on at a time.
func (c *Controller) Input(key eval.Key, now time.Time) eval.Input {
	snapshot := c.group.store.Snapshot()
	return c.input(key, now, snapshot, c.reads.primary(snapshot, key), nil)
}

// input returns what a decision about a key depends on, whose primary is object, or the
// one that stands in for it.
func (c *Controller) input(key eval.Key, now time.Time, snapshot *world.Snapshot, object *world.Object, left *leftover) eval.Input {
	in := eval.Input{
		Policy: c.Policy, Key: key, World: snapshot, Now: now, Initial: c.known.isInitial(key), Answers: c.group.Answers, Shared: &c.shared,
		Unwatched: !c.reads.watches(snapshot, key),
	}
	if c.Policy.Stateful {
		in.Recall, in.Remembered, in.Intents = c.known.memories.recall(key), c.known.memories.size(key), c.known.intents.known
	}
	if left != nil {
		in.Instead = left.object
	} else if object != nil {
		in.Leaving = !c.Policy.Primary.Selects(object)
	}
	return in
}

// evaluate decides. What it takes for a key's memo stays with the key's object:
// one that stands in has none.
func (c *Controller) evaluate(ctx context.Context, in eval.Input) *eval.Decision {
	if in.Instead != nil && c.reads.exists(in.World, in.Key) {
		return eval.Evaluate(ctx, in, nil)
	}
	if in.Unwatched {
		d := eval.Evaluate(ctx, in, nil)
		c.leave(in.Key)
		return d
	}
	memo := c.known.memo(in.Key)
	before := memo.Kept()
	d := eval.Evaluate(ctx, in, memo)
	c.known.keep(memo, before)
	lookups := memo.Lookups()
	c.reads.router.Looked(in.Key, lookups)
	for _, i := range c.reads.router.Decided(in.Key, eval.Progress{Reached: d.Reached, Ran: d.Ran}, in.Instead != nil || len(d.Problems) > 0) {
		lookups = append(lookups, eval.Lookup{Input: i, Whole: true})
	}
	if c.reads.began(lookups, in.World) && (d.Next.IsZero() || d.Next.After(in.Now)) {
		sooner := *d // it may be kept for the next evaluation
		sooner.Next = in.Now
		d = &sooner
	}
	if !c.reads.exists(in.World, in.Key) {
		c.forget(in.Key, memo)
	}
	return d
}

// Reconcile decides about a key and writes what comes of it. The ID of the
// reconciliation is that of the context, or a new one.
func (c *Controller) Reconcile(ctx context.Context, key eval.Key, now time.Time) Result {
	c.known.begin(key)
	defer handOver(c, key)
	return c.reconcile(ctx, key, now, false)
}

// forget drops what is known of a key whose primary is gone.
func (c *Controller) forget(key eval.Key, memo *eval.Memo) {
	kept := memo.Kept()
	memo.Release()
	c.reads.router.Looked(key, memo.Lookups())
	if c.Decides(key) {
		c.brake.Forget(key)
	}
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	c.known.forget(key, kept)
	if c.shadow != nil {
		c.shadow.forget(key)
	}
}

// MarkInitial says that the keys known now were in the first list, with which
// the controller comes into force.
func (c *Controller) MarkInitial() {
	keys := c.reads.router.Keys()
	k := &c.known
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revisions.late = nil
	k.wakes.begin()
	k.revisions.inForce.Store(true)
	c.brake.Adopt(c.Policy)
	for _, key := range keys {
		k.states.at(key).initial = true
	}
}

// InForce reports whether the revision decides: it has begun, and no other has taken over.
func (c *Controller) InForce() bool { return c.known.revisions.inForce.Load() }

// Sources returns the sources that the policy reads.
func (c *Controller) Sources() []world.Source { return c.reads.sources() }

// Keys returns the keys that have a primary, sorted.
func (c *Controller) Keys() []eval.Key { return c.reads.router.Keys() }

// Count returns how many keys have a primary object.
func (c *Controller) Count() int { return c.reads.router.Count() }

// earliest returns the first of two instants; zero is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Look decides about a key on the objects as they are, and returns the record. It
// writes and remembers nothing, and nothing waits for it: the next Reconcile is as
// if nobody had looked. Builtins are asked by answers; nil are those of the group.
func (c *Controller) Look(ctx context.Context, key eval.Key, now time.Time, answers expr.Answerer) *record.Record {
	in := c.Input(key, now)
	in.Shared = nil
	if answers != nil {
		in.Answers = answers
	}
	kept := record.Begin(in)
	d := eval.Evaluate(ctx, kept.Inputs.Input, nil)
	kept.End()
	failed := failures{c: c}
	failed.judge(d, decided(d))
	kept.Decision, kept.Next = d, d.Next
	kept.Errors = [2]error{errors.Join(failed.passing...), errors.Join(append(failed.leftAlone, failed.final...)...)}
	if c.Policy.Stateful {
		kept.Memory = c.known.memories.values(key)
	}
	return kept
}
