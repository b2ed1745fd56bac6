package reconcile

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/world"
)

// reconciliation is one pass over a key: what it starts from, and what has come of it so
// far.
type reconciliation struct {
	c   *Controller
	key eval.Key
	now time.Time
	// object is the primary; nil is that there is none.
	object *world.Object
	// left is what stands in for it; nil is nothing.
	left *leftover
	in   eval.Input
	// woken is why the key is decided about, cause what led to that.
	woken []record.Wake
	cause brake.Cause
	// echo has the answers that may be used again; nil is none.
	echo *echo
	// flight is the rules that it runs of which only so many keys may; nil is that they
	// are not counted.
	flight *flight
	// traced is its trace; nil is none.
	traced *traced
	// kept is its record.
	kept   *record.Record
	failed failures
	result Result
	// again says that the key is to be decided about once more at once, without what was
	// refused.
	again bool
}

// reconcile decides about a key and writes what comes of it. A flush runs also what waits
// for a later time, and does at once what is to be done at once.
func (c *Controller) reconcile(ctx context.Context, key eval.Key, now time.Time, flush bool) Result {
	for {
		r := reconciliation{c: c, key: key, now: now}
		if c.shadow != nil {
			return c.shadow.reconcile(ctx, &r)
		}
		r.run(ctx, flush)
		if !flush || !r.again || ctx.Err() != nil {
			return r.result
		}
	}
}

// run is one pass of reconcile.
func (r *reconciliation) run(ctx context.Context, flush bool) {
	c := r.c
	snapshot := c.group.store.Snapshot()
	if !flush && r.waits(ctx, snapshot) {
		r.result.Next = r.now.Add(lookAgain)
		c.known.echoes.lookLater(r.key, r.result.Next)
		return
	}
	ctx = r.begin(ctx, snapshot, flush)
	defer r.close()
	r.write(ctx, r.decide(ctx))
	r.settle(ctx)
}

// begin finds out what the key is decided about for, and what the decision depends on.
func (r *reconciliation) begin(ctx context.Context, snapshot *world.Snapshot, flush bool) context.Context {
	c, key, now := r.c, r.key, r.now
	by := c.known.wakes.take(key)
	r.woken, r.cause = c.known.reasons(key, by), by.cause
	r.object = c.reads.primary(snapshot, key)
	r.left = c.known.intents.leftover(key, r.object != nil, r.decides(), now, flush)
	r.in = c.input(key, now, snapshot, r.object, r.left)
	r.in.Flush, r.in.Apart, r.in.Rejected = flush, c.brake.Apart(key), c.known.leftOut(key, now)
	if c.bounded {
		r.flight = c.known.revisions.flights.takeOff(&r.in)
	}
	ctx, r.result.ID = c.group.identified(ctx)
	ctx, r.traced = r.trace(ctx, by.at)
	if r.echo = c.known.echoes.take(key, r.woken, now); flush {
		r.echo = nil
	}
	return ctx
}

// decides reports whether the key is decided about, whatever waits for it: its primary is
// there, or the policy needs none.
func (r *reconciliation) decides() bool { return r.object != nil || r.c.Policy.Primary.Optional }

// close ends what must not go on, also when a reconciliation panics.
func (r *reconciliation) close() {
	r.traced.close()
	r.flight.end()
}

// decide makes the decision, and returns the effects that may happen.
func (r *reconciliation) decide(ctx context.Context) []*eval.Effect {
	start := time.Now()
	d := r.conclude(ctx)
	due := r.beside(ctx)
	err := decided(d)
	if err == nil {
		r.c.known.remember(r.key, d.Remember)
	}
	r.count(start)
	r.result.Next = r.c.brake.Due(r.key, earliest(d.Next, due), r.now)
	return r.judge(err)
}

// settle brings all that is known of the key up to what was written.
func (r *reconciliation) settle(ctx context.Context) {
	c, result := r.c, &r.result
	c.known.writes.set(r.key, pendingOf(result.Outcomes, r.now))
	r.noteRejections()
	r.sumUp()
	if result.Err != nil && r.cause.Known { // it is tried again
		c.known.wakes.restore(r.key, r.cause)
	}
	r.debounce()
	r.reached()
	result.Next = earliest(result.Next, c.known.intents.next(r.key))
	if r.left != nil && r.decides() {
		result.Next = r.now // the key itself has still to be decided about
	}
	r.keepEcho()
	r.again = r.reject()
	if r.in.Leaving && r.finished() {
		memo := c.known.memo(r.key)
		c.reads.router.Leave(ctx, r.key)
		c.forget(r.key, memo)
	}
	r.record()
	r.traced.end(result)
}

// finished reports whether there is nothing left to do about an object, and it carries no
// finalizer of the policy.
func (r *reconciliation) finished() bool {
	result := &r.result
	return result.Err == nil && result.Final == nil && len(result.Outcomes) == 0 && len(result.Decision.Problems) == 0 &&
		result.Next.IsZero() && !r.c.Policy.Primary.Left(r.object)
}
