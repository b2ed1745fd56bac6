package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
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
	// exists reports whether the key itself is decided about, and not only what waits for it.
	exists bool
	// left is what stands in for it; nil is nothing.
	left *leftover
	// woken is why the key is decided about.
	woken []record.Wake

	evaluation evaluation
	telemetry  telemetry
	failed     failures
	result     Result
	// retries says that a write of the last decision has failed.
	retries bool
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
	if !flush {
		if r.result.Next = r.postpone(ctx, snapshot); !r.result.Next.IsZero() {
			c.known.echoes.lookLater(r.key, r.result.Next)
			return
		}
	}
	if takeover := c.known.takeover(r.key, r.now); !takeover.IsZero() {
		r.result.Next = takeover
		return
	}
	ctx = r.begin(ctx, snapshot, flush)
	defer r.close()
	r.write(ctx, r.decide(ctx))
	r.settle(ctx)
}

// postpone returns the time at which the key may be decided about, because it is at its
// pace or the read model lacks its writes. It returns zero if the key may be decided now.
func (r *reconciliation) postpone(ctx context.Context, snapshot *world.Snapshot) time.Time {
	if until := r.c.brake.Wait(r.key, r.now); !until.IsZero() {
		return until
	}
	if r.waits(ctx, snapshot) {
		return r.now.Add(lookAgain)
	}
	return time.Time{}
}

// begin finds out what the key is decided about for, and what the decision depends on.
func (r *reconciliation) begin(ctx context.Context, snapshot *world.Snapshot, flush bool) context.Context {
	c, key, now := r.c, r.key, r.now
	by := c.known.wakes.take(key)
	r.woken = c.known.reasons(key, by)
	r.object, r.exists = c.reads.primary(snapshot, key), c.reads.exists(snapshot, key)
	r.left = c.known.intents.leftover(key, r.object != nil, r.exists, now, flush)
	r.failed.c, r.evaluation.c = c, c
	in := &r.evaluation.in
	*in = c.input(key, now, snapshot, r.object, r.left)
	in.Flush, in.Apart = flush, c.brake.Apart(key)
	in.Rejected, r.retries = c.known.leftOut(key, now)
	ctx, r.result.ID = c.group.identified(ctx)
	r.telemetry = telemetry{c: c, id: r.result.ID}
	ctx, r.telemetry.traced = r.telemetry.trace(ctx, key, r.woken, by.at)
	if r.evaluation.echo = c.known.echoes.take(key, r.woken, now); flush {
		r.evaluation.echo = nil
	}
	return ctx
}

// close ends what must not go on, also when a reconciliation panics.
func (r *reconciliation) close() { r.telemetry.traced.close() }

// decide makes the decision, and returns the effects that may happen.
func (r *reconciliation) decide(ctx context.Context) []guard.Write {
	start := time.Now()
	d := r.evaluation.run(ctx, r.telemetry)
	due := r.evaluation.compare(ctx)
	err := decided(d)
	if err == nil {
		r.c.known.remember(r.key, d.Remember)
	}
	r.telemetry.evaluated(d, start)
	r.result.Decision = d
	r.result.Next = earliest(d.Next, due)
	return r.failed.judge(d, err)
}

// settle brings all that is known of the key up to what was written.
func (r *reconciliation) settle(ctx context.Context) {
	c, result := r.c, &r.result
	c.known.writes.set(r.key, pendingOf(result.Outcomes, r.now))
	r.failed.sumUp(result)
	r.debounce()
	c.known.reached(r.key, result.reach(r.failed.held))
	result.Next = earliest(result.Next, c.known.intents.next(r.key))
	if r.left != nil && r.exists {
		result.Next = r.now // the key itself has still to be decided about
	}
	result.Paced = !c.brake.Wait(r.key, r.now).IsZero()
	r.keepEcho()
	r.again = r.reject()
	if r.evaluation.in.Leaving && result.finished() && !c.Policy.Primary.Left(r.object) {
		memo := c.known.memo(r.key)
		c.reads.router.Leave(ctx, r.key)
		c.forget(r.key, memo)
	}
	r.record()
	r.telemetry.traced.end(result)
}

// debounce brings what waits for the key up to what the reconciliation did.
func (r *reconciliation) debounce() {
	result := &r.result
	b := debouncer{
		c: r.c, key: r.key, now: r.now, object: r.object, left: r.left,
		decision: result.Decision, refused: r.failed.refused, outcomes: result.Outcomes,
	}
	if r.left != nil {
		b.object = nil // it stands in
	}
	b.update()
	result.PutOff, result.Retried = b.putOff, b.retried
	if b.full != nil {
		result.Err, result.Quiet = errors.Join(result.Err, b.full), false
	}
	r.c.known.remeasure()
}

// record keeps what was decided about the key, and what came of it.
func (r *reconciliation) record() {
	kept, result := r.evaluation.kept, &r.result
	kept.End()
	kept.WokenBy, kept.Decision, kept.Outcomes, kept.Next = r.woken, result.Decision, result.Outcomes, result.Next
	kept.Errors = [2]error{result.Err, errors.Join(append(r.failed.leftAlone, result.Final)...)}
	if r.c.Policy.Stateful {
		kept.Memory = r.c.known.memories.values(r.key)
	}
	result.Record = kept
	r.c.group.Records.Add(kept)
}
