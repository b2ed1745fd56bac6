package reconcile

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/world"
)

// write writes what the brakes let pass. The outcomes of a key are those of all
// its effects, in their order.
func (r *reconciliation) write(ctx context.Context, writes []guard.Write) {
	c, result := r.c, &r.result
	effects, still := c.known.withoutUnchanged(r.key, guard.Effects(writes))
	if len(effects) == 0 && c.brake.Idle(result.Next, r.now) {
		return
	}
	read := c.reads.in(r.evaluation.in.World)
	ruling := c.brake.Admit(brake.Request{
		Key: r.key, Effects: effects, Next: result.Next, Now: r.now, World: bounds{read, c, limiting(c)},
	})
	result.Outcomes = r.applier(read).Apply(ctx, guard.Select(writes, ruling.Allowed))
	c.brake.Settle(ruling, done(result.Outcomes))
	r.noteUnchanged(still)
	r.failed.endless = c.known.noteConflict(r.key, result.Outcomes, read, r.now)
	if len(ruling.Back) > 0 {
		r.failed.held = true
		result.hold(effects, &ruling)
	}
}

// applier returns what writes the effects of the decision.
func (r *reconciliation) applier(read reading) *apply.Applier {
	policy, rejected := r.c.Policy, r.evaluation.in.Rejected
	primary, _ := world.Identify(policy.Primary.GVK, r.key.Namespace, r.key.Name) // keys are of objects, or checked in Named
	return &apply.Applier{
		Writer: r.c.group.writer, Policy: policy.ID(), Primary: primary,
		Lock:    r.c.group.WatchSelector != selector.Everything,
		Version: read.version, Seen: r.c.known.revisions.told.seen, Around: r.telemetry.around, Again: func(e *eval.Effect, err error) bool { return stops(policy, rejected, e, err) },
	}
}

// hold notes which effects the brakes keep back, and until when.
func (r *Result) hold(effects []*eval.Effect, ruling *brake.Ruling) {
	r.Next = earliest(r.Next, ruling.Next)
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
		out[i] = brake.Done{Effect: o.Effect, Written: o.Written() && !o.Unchanged}
	}
	return out
}

// bounds is what the brakes know of what a controller reads. Sizes are those of the
// controller whose limits hold: limits name inputs by their place in its policy.
type bounds struct {
	read      reading
	c, limits *Controller
}

// limiting returns the controller whose limits hold for what another one, or itself, writes:
// that of the revision in force.
func limiting(c *Controller) *Controller {
	if rollout := c.known.revisions.rollout.Load(); rollout != nil {
		return rollout.base
	}
	if next := c.known.next(); next != nil {
		return limiting(next)
	}
	return c
}

// Size implements brake.World.
func (b bounds) Size(input int) int {
	if input < 0 {
		return b.limits.reads.router.Count()
	}
	return b.read.seen.Table(b.limits.Policy.Inputs[input].Source).Len()
}

// Suspect implements brake.World.
func (b bounds) Suspect() bool { return b.c.group.Suspect != nil && b.c.group.Suspect(b.c) }
