package controller

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
)

// tryOutTimeout is how long it may take until all that an edit reads is there.
const tryOutTimeout = 1500 * time.Millisecond

// TryOut evaluates an edit of a policy with the present objects, before it is stored.
// Nil means that no error is known: also if this process does not run the policy, or
// what the edit reads is not available soon. What was read for it is available when
// the edit takes effect a moment later.
func (r *Runtime) TryOut(ctx context.Context, p *plan.Policy) error {
	now := r.inForce(p.ID())
	if p.Mode != plan.Enforce || now == nil || now.Policy.Revision == p.Revision || r.options.Requirements.Unmet(ctx, p) != nil {
		return nil
	}
	next := r.informers.Visit(p)
	defer r.informers.Leave(next)
	soon, cancel := context.WithTimeout(ctx, tryOutTimeout)
	defer cancel()
	if !r.informers.Open(soon, next.Sources()) {
		return nil
	}
	return reconcile.TryOut(ctx, next, now, r.group.Replay(ctx, next), time.Now())
}

// inForce returns the controller that decides for a policy, or nil.
func (r *Runtime) inForce(id string) *reconcile.Controller {
	c := r.controller(id)
	if c == nil || c.current() == "" {
		return nil
	}
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	return c.health.controller
}
