package run

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
)

// foreseePatience is how long it may take until all that an edit reads is there.
const foreseePatience = 1500 * time.Millisecond

// foresee tries an edit of a policy out on the objects there are, before it is
// stored. Nil says that nothing is wrong, or that it cannot be told: this process
// does not run the policy, or what the edit reads cannot be had soon. What has
// been read for it is there when the edit takes effect a moment later.
func (t *term) foresee(ctx context.Context, p *plan.Policy) error {
	if t == nil || p.Mode != plan.Enforce {
		return nil
	}
	now := t.inForce(p.ID())
	if now == nil || now.Policy.Revision == p.Revision || t.unmet(ctx, p) != nil {
		return nil
	}
	next := t.feeds.visit(p)
	defer t.feeds.leave(next)
	soon, cancel := context.WithTimeout(ctx, foreseePatience)
	defer cancel()
	if !t.feeds.open(soon, next.Sources()) {
		return nil
	}
	return next.TryOut(ctx, now, t.group.Replay(ctx, next), time.Now())
}

// inForce returns the controller that decides for a policy, or nil.
func (t *term) inForce(id string) *reconcile.Controller {
	r := t.runner(id)
	if r == nil || r.current() == "" {
		return nil
	}
	r.health.mu.Lock()
	defer r.health.mu.Unlock()
	return r.health.controller
}
