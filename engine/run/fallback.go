package run

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
)

// tryOut compares a revision with the one in force, or with the last good one if
// none is in force yet.
func (r *runner) tryOut(ctx context.Context, next *reconcile.Controller, keys []eval.Key, fallback *lifecycle.Revision) error {
	if r.worker.current() != next {
		return next.TryOut(ctx, r.worker.current(), keys, time.Now())
	}
	if fallback == nil || r.unmet(ctx, fallback.Plan) != nil {
		return nil
	}
	p, err := r.typedPlan(ctx, fallback)
	if err != nil {
		return nil // it no longer fits, so nothing is compared with it
	}
	last := r.feeds.visit(p)
	defer r.feeds.leave(last)
	if !r.feeds.open(ctx, last.Sources()) {
		return ctx.Err()
	}
	r.group.Replay(ctx, last)
	return next.TryOut(ctx, last, keys, time.Now())
}

// resume puts the last good revision in force while the one that is to run
// cannot, and reports whether it did.
func (r *runner) resume(ctx context.Context, ticket lifecycle.Ticket, last *lifecycle.Revision, looked func()) bool {
	if last == nil || r.worker != nil || r.unmet(ctx, last.Plan) != nil {
		return false
	}
	p, err := r.typedPlan(ctx, last)
	if err == nil {
		err = r.ready(ctx, p, nil, looked)
	}
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Error("the last good revision does not run either", observe.LogPolicy, r.id, observe.LogRevision, last.Plan.Revision, "error", err.Error())
		}
		return false
	}
	r.Log.Info("the last good revision runs until the newest can", observe.LogPolicy, r.id, observe.LogRevision, p.Revision)
	r.policies.FellBack(r.id, ticket, p.Revision, time.Now())
	return true
}

// withFallback adds the last good revision to one that is to run: the new one
// may have to wait, or may not fit the objects, and nothing runs yet that would
// go on.
func (l *library) withFallback(id string, rev *lifecycle.Revision) *lifecycle.Revision {
	kept := l.store.good(id)
	if kept == nil || kept.Revision == rev.Unit.Revision() || l.policies.Get(id).Report.InForce != "" {
		return rev
	}
	out := *rev
	out.Fallback = l.store.lastGood(id, l.judge)
	return &out
}
