package reconcile

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

// write writes what the brakes let pass. The outcomes of a key are those of all
// its effects, in their order.
func (c *Controller) write(ctx context.Context, in *eval.Input, effects []*eval.Effect, cause brake.Cause, r *Result) {
	if len(effects) == 0 && c.brake.Idle() {
		return
	}
	ruling := c.brake.Admit(brake.Request{
		Key: in.Key, Effects: effects, Cause: cause, Now: in.Now, World: readings{c, in.World, c.limiting()},
	})
	r.Runaway = ruling.Runaway
	r.Outcomes = c.applier(in, r).Apply(ctx, ruling.Allowed)
	c.brake.Settle(ruling, done(r.Outcomes), in.Now)
	if len(ruling.Back) == 0 {
		return
	}
	r.held = true
	if !ruling.Next.IsZero() && (r.Next.IsZero() || ruling.Next.Before(r.Next)) {
		r.Next = ruling.Next
	}
	for _, b := range ruling.Back {
		r.Outcomes = append(r.Outcomes, apply.Outcome{Effect: b.Effect, Skipped: true, Held: true})
	}
	slices.SortStableFunc(r.Outcomes, func(a, b apply.Outcome) int {
		return slices.Index(effects, a.Effect) - slices.Index(effects, b.Effect)
	})
}

func done(outcomes []apply.Outcome) []brake.Done {
	if len(outcomes) == 0 {
		return nil
	}
	out := make([]brake.Done, len(outcomes))
	for i, o := range outcomes {
		out[i] = brake.Done{Effect: o.Effect, Written: o.Written() && !o.Unchanged, Version: o.Version.ResourceVersion}
	}
	return out
}

// readings is what the brakes know of what a controller reads. Sizes are those of the
// controller whose limits hold: limits name inputs by their place in its policy.
type readings struct {
	*Controller
	seen   *world.Snapshot
	limits *Controller
}

// limiting returns the controller whose limits hold: that of the revision in force.
func (c *Controller) limiting() *Controller {
	if r := c.rollout.Load(); r != nil {
		return r.base
	}
	c.mu.Lock()
	next := c.successor
	c.mu.Unlock()
	if next != nil {
		return next.limiting()
	}
	return c
}

// Size implements brake.World.
func (c readings) Size(input int) int {
	if input < 0 {
		return c.limits.router.Count()
	}
	return c.seen.Table(c.limits.Policy.Inputs[input].Source).Len()
}

// UID implements brake.World.
func (c readings) UID(id world.ID) string {
	_, uid := c.version(c.seen)(id)
	return uid
}

// Suspect implements brake.World.
func (c readings) Suspect() bool { return c.group.Suspect != nil && c.group.Suspect(c.Controller) }
