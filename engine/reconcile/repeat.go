package reconcile

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
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
	at := slices.IndexFunc(a.left, func(call eval.Call) bool {
		return call.Request.Query == request.Query && value.Alike(call.Request.With, request.With) && call.Request.Candidates.Same(request.Candidates)
	})
	if at < 0 {
		a.missed = true
		return nil, expr.ErrNoAnswer
	}
	response := a.left[at].Response
	a.left = slices.Delete(a.left, at, at+1)
	return response, nil
}
