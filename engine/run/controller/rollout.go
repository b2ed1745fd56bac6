package controller

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

// stage lets a revision decide about the keys of its step, beside the one in force. An
// error refuses it.
func (c *controller) stage(ctx context.Context, p *plan.Policy, a *attempt) error {
	staged := a.revision.Staged
	share := staged.Spec.Share(staged.Step)
	if r := c.rollout.Load(); r != nil { // it goes on
		c.worker.enqueue(r.Advance(share))
		return nil
	}
	if !c.startBase(ctx, a) {
		return ctx.Err()
	}
	if rollout.Share(staged.Spec.Steps).Selects() {
		p = p.ReadLabels()
	}
	next := c.informers.Join(p)
	if !c.informers.Open(ctx, next.Sources()) {
		c.abandon(next)
		return errNotWatched
	}
	keys := c.group.Replay(ctx, next)
	if err := c.tryOut(ctx, next, keys, nil); err != nil {
		c.abandon(next)
		return err
	}
	r, keys := c.worker.divide(next, share)
	c.rollout.Store(r)
	c.staged = staged
	c.worker.enqueue(keys)
	return nil
}

// startBase makes the revision run from which the steps lead, if none runs: after a
// restart. Its worker begins with the rollout, so that it does not decide about keys of
// the new revision. False is that the context has ended.
func (c *controller) startBase(ctx context.Context, a *attempt) bool {
	from, reported := a.revision.Staged.From, ""
	for c.worker == nil {
		err := c.requirements.Unmet(ctx, from.Plan)
		var p *plan.Policy
		if err == nil {
			p, err = c.typedPlan(ctx, from)
		}
		if err == nil {
			err = c.activate(ctx, p, &attempt{ticket: a.ticket, revision: from, loaded: a.loaded, quiet: true})
		}
		if err == nil {
			c.fellBack(a, p.Revision)
			return true
		}
		a.loaded()
		if text := err.Error(); text != reported && ctx.Err() == nil {
			reported = text
			c.report(a, lifecycle.Report{Event: lifecycle.Blocked, Reason: "the revision in force, " + from.Plan.Revision + ", cannot run, so that no other can replace it in steps: " + text + "; to replace it at once, remove the annotation with the steps"})
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(c.poll):
		}
	}
	return true
}

// promote puts the revision that is rolled out in force for all keys.
func (c *controller) promote() {
	next := c.rollout.Swap(nil).Next()
	keys, old := c.worker.promote()
	c.adopted(next, old, keys)
}

// dropOther gives all keys back to the revision in force if a rollout is under way that
// is not to be finished: of another revision, or with other steps. It reports whether
// it did.
func (c *controller) dropOther(rev *lifecycle.Revision) bool {
	r := c.rollout.Load()
	if r == nil || r.Next().Policy.Revision == rev.Plan.Revision && (rev.Staged == nil || rev.Staged.Same(c.staged)) {
		return false
	}
	c.rollout.Store(nil)
	keys := c.worker.unite()
	c.log.Info("the rollout of a revision has ended", observe.LogPolicy, c.id, observe.LogRevision, r.Next().Policy.Revision, "inForce", c.worker.current().Policy.Revision)
	c.abandon(r.Next())
	c.worker.enqueue(keys)
	return true
}

// divide lets another revision decide about a share of the keys, and returns those to
// reconcile.
func (w *worker) divide(next *reconcile.Controller, share rollout.Share) (r *reconcile.Rollout, keys []eval.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rollout, keys = reconcile.NewRollout(w.controller, next, share, time.Now())
	return w.rollout, keys
}

// promote puts the revision that is rolled out in force. It returns the keys to
// reconcile again, and the revision before.
func (w *worker) promote() (again []eval.Key, old *reconcile.Controller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old, again = w.controller, w.rollout.Finish()
	w.controller, w.rollout = w.rollout.Next(), nil
	w.metrics.Replace(old.Policy, w.controller.Policy)
	return again, old
}

// unite ends a rollout without the new revision, and returns the keys to reconcile
// again.
func (w *worker) unite() []eval.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.rollout
	w.rollout = nil
	return r.Drop()
}

// Rollout returns how far the rollout of a policy has come; false if there is none.
func (r *Runtime) Rollout(id string) (reconcile.RolloutReport, bool) {
	now := r.rollout(id)
	if now == nil {
		return reconcile.RolloutReport{}, false
	}
	return now.Report(), true
}

// rollout returns the rollout of a policy, or nil.
func (r *Runtime) rollout(id string) *reconcile.Rollout {
	if c := r.controller(id); c != nil {
		return c.rollout.Load()
	}
	return nil
}

// Advance gives a revision that is rolled out its share of the keys.
func (r *Runtime) Advance(id, revision string, share rollout.Share) {
	if now := r.rollout(id); now != nil && now.Next().Policy.Revision == revision {
		r.queues.EnqueueWave(id, now.Advance(share))
	}
}

// WritesStopped returns why a policy writes nothing, because a permission is missing;
// "" is that it does.
func (r *Runtime) WritesStopped(id string) string {
	c := r.controller(id)
	if c == nil {
		return ""
	}
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	return c.health.blocked
}
