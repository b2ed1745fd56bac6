package controller

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

// tryOut compares a revision with the one in force, or with the last good one if
// none is in force yet.
func (c *controller) tryOut(ctx context.Context, next *reconcile.Controller, keys []eval.Key, fallback *lifecycle.Revision) error {
	if c.worker.current() != next {
		return reconcile.TryOut(ctx, next, c.worker.current(), keys, time.Now())
	}
	if fallback == nil || c.requirements.Unmet(ctx, fallback.Plan) != nil {
		return nil
	}
	p, err := c.typedPlan(ctx, fallback)
	if err != nil {
		return nil // it no longer fits, so nothing is compared with it
	}
	last := c.informers.Visit(p)
	defer c.informers.Leave(last)
	if !c.informers.Open(ctx, last.Sources()) {
		return ctx.Err()
	}
	c.group.Replay(ctx, last)
	return reconcile.TryOut(ctx, next, last, keys, time.Now())
}

// resume puts the last good revision in force while the one that is to run
// cannot, and reports whether it did.
func (c *controller) resume(ctx context.Context, a *attempt) bool {
	last := a.revision.Fallback
	if last == nil || c.worker != nil || c.requirements.Unmet(ctx, last.Plan) != nil {
		return false
	}
	p, err := c.typedPlan(ctx, last)
	if err == nil {
		err = c.activate(ctx, p, &attempt{ticket: a.ticket, revision: last, loaded: a.loaded})
	}
	if err != nil {
		if ctx.Err() == nil {
			c.log.Error("the last good revision does not run either", observe.LogPolicy, c.id, observe.LogRevision, last.Plan.Revision, "error", err.Error())
		}
		return false
	}
	c.log.Info("the last good revision runs until the newest can", observe.LogPolicy, c.id, observe.LogRevision, p.Revision)
	c.fellBack(a, p.Revision)
	return true
}
