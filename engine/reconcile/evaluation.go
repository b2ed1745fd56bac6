package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
)

// evaluation makes the decision of a reconciliation.
type evaluation struct {
	c *Controller
	// in is what the decision depends on.
	in eval.Input
	// echo has the answers that may be used again; nil is none.
	echo *echo
	// decision is what it came to, kept its record.
	decision *eval.Decision
	kept     *record.Record
}

// run makes the decision, with the answers of the echo if that is possible.
func (e *evaluation) run(ctx context.Context, t telemetry) *eval.Decision {
	if e.echo != nil {
		if e.repeat(ctx, t) {
			return e.decision
		}
		e.echo.since = e.in.Now
	}
	e.decide(ctx, t, e.in)
	return e.decision
}

// repeat decides with the answers of the echo. It reports false when they are not all that
// is asked for: then every call is made, in its order, since outside one may depend on
// those before it.
func (e *evaluation) repeat(ctx context.Context, t telemetry) bool {
	answers := &repeated{left: slices.Clone(e.echo.calls)}
	in := e.in
	in.Answers = answers
	e.decide(ctx, t, in)
	if answers.missed {
		return false
	}
	calls := e.decision.Calls
	for i := range calls {
		calls[i].AnsweredBefore = true
	}
	return true
}

// decide makes a decision and begins its record.
func (e *evaluation) decide(ctx context.Context, t telemetry, in eval.Input) {
	e.kept = record.Begin(in)
	e.kept.Identify(t.id)
	e.decision = t.traced.evaluate(ctx, e.c, e.kept.Inputs.Input)
}

// compare lets those decide in the snapshot of a decision that is about to be written
// who are compared with it: the policy in the shadow and the other revision of a
// rollout, if there are any. It returns when the other revision is due.
func (e *evaluation) compare(ctx context.Context) (due time.Time) {
	c, in, d := e.c, &e.in, e.decision
	if c.Policy.Mode != plan.Enforce || in.Instead != nil || len(in.Rejected) > 0 { // they would make what was refused
		return due
	}
	if rollout := c.known.revisions.rollout.Load(); rollout != nil && !in.Flush {
		due = rollout.compare(ctx, c, *in, d)
	}
	for other := range c.group.controllers.shadowsOf(c.Policy.ID()) {
		other.shadow.look(ctx, &reconciliation{c: other, key: in.Key, now: in.Now}, in.World, enforced{by: c, d: d})
	}
	return due
}
