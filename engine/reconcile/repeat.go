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

// conclude makes the decision, with the answers of the echo if that is possible.
func (r *reconciliation) conclude(ctx context.Context) *eval.Decision {
	if r.echo != nil {
		if r.repeat(ctx) {
			return r.result.Decision
		}
		r.flight.end()
		r.echo.since = r.now
	}
	r.evaluate(ctx, r.in)
	return r.result.Decision
}

// repeat decides with the answers of the echo. It reports false when they are not all that
// is asked for: then every call is made, in its order, since outside one may depend on
// those before it.
func (r *reconciliation) repeat(ctx context.Context) bool {
	answers := &repeated{left: slices.Clone(r.echo.calls)}
	in := r.in
	in.Answers = answers
	r.evaluate(ctx, in)
	if answers.missed {
		return false
	}
	calls := r.result.Decision.Calls
	for i := range calls {
		calls[i].AnsweredBefore = true
	}
	return true
}

// evaluate makes a decision and begins its record.
func (r *reconciliation) evaluate(ctx context.Context, in eval.Input) {
	r.kept = record.Begin(in)
	r.kept.Identify(r.result.ID)
	r.result.Decision = r.traced.evaluate(ctx, r.c, r.kept.Inputs.Input)
}
