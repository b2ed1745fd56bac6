package reconcile

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/value"
)

// repeated answers with what was answered before.
type repeated struct {
	left []eval.Call
	// missed says that something else was asked, too.
	missed bool
}

// Answer implements expr.Answerer. Of calls with the same request, the first one has the
// first answer.
func (a *repeated) Answer(_ context.Context, request *expr.Request) (*expr.Response, error) {
	at := slices.IndexFunc(a.left, func(call eval.Call) bool { return sameRequest(call.Request, request) })
	if at < 0 {
		a.missed = true
		return nil, expr.ErrNoAnswer
	}
	response := a.left[at].Response
	a.left = slices.Delete(a.left, at, at+1)
	return response, nil
}

// sameRequest reports whether two requests ask the same, to the types of their values.
func sameRequest(a, b *expr.Request) bool {
	return a.Query == b.Query && value.Alike(a.With, b.With) && a.Candidates.Same(b.Candidates)
}

// conclude decides about a key, as its echo if that is possible.
func (c *Controller) conclude(ctx context.Context, t *traced, id record.ID, f *flight, in eval.Input, e *echo) (*record.Record, *eval.Decision) {
	if e != nil {
		if kept, d := c.repeat(ctx, t, id, in, e); d != nil {
			return kept, d
		}
		f.end()
	}
	kept := record.Begin(in)
	kept.Identify(id)
	d := c.decide(ctx, t, kept.Inputs.Input)
	if e != nil {
		e.since = in.Now
	}
	return kept, d
}

// repeat decides with the answers of an echo. It returns nil when they are not all that
// is asked for: then every call is made, in its order, since outside one may depend on
// those before it.
func (c *Controller) repeat(ctx context.Context, t *traced, id record.ID, in eval.Input, e *echo) (*record.Record, *eval.Decision) {
	answers := &repeated{left: slices.Clone(e.calls)}
	in.Answers = answers
	kept := record.Begin(in)
	kept.Identify(id)
	d := c.decide(ctx, t, kept.Inputs.Input)
	if answers.missed {
		return nil, nil
	}
	for i := range d.Calls {
		d.Calls[i].AnsweredBefore = true
	}
	return kept, d
}
