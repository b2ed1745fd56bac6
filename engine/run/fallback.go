package run

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/source"
)

// tryOut compares a revision with the one in force, or with the last good one if
// none is in force yet.
func (r *runner) tryOut(ctx context.Context, next *reconcile.Controller, keys []eval.Key, fallback *revision) error {
	if r.worker.current() != next {
		return next.TryOut(ctx, r.worker.current(), keys, time.Now())
	}
	if fallback == nil || r.unmet(ctx, fallback.plan) != nil {
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
func (r *runner) resume(ctx context.Context, last *revision, looked func()) bool {
	if last == nil || r.worker != nil || r.unmet(ctx, last.plan) != nil {
		return false
	}
	p, err := r.typedPlan(ctx, last)
	if err == nil {
		err = r.ready(ctx, p, nil, looked)
	}
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Error("the last good revision does not run either", observe.LogPolicy, r.id, observe.LogRevision, last.plan.Revision, "error", err.Error())
		}
		return false
	}
	r.Log.Info("the last good revision runs until the newest can", observe.LogPolicy, r.id, observe.LogRevision, p.Revision)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.revision = p.Revision
	return true
}

// withFallback adds the last good revision to one that is to run: the new one
// may have to wait, or may not fit the objects, and nothing runs yet that would
// go on.
func (l *library) withFallback(id string, rev *revision) *revision {
	kept := l.store.good(id)
	if kept == nil || kept.Revision == rev.unit.Revision() || l.term.told(id).revision != "" {
		return rev
	}
	out := *rev
	out.fallback = l.store.lastGood(id, l.judge)
	return &out
}

// from returns the revision with the catalog that it is from; one that was read
// from the history stays as it is.
func (r *revision) from(c *source.Catalog) *revision {
	if c.Units[r.unit.ID()] != r.unit {
		return r
	}
	out := *r
	out.catalog = c
	return &out
}
