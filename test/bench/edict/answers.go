package edict

import (
	"context"
	"net/http"

	"github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/test/bench/byhand"
)

// Client returns the client of the scheduler extender that the controller uses, over
// a transport.
func Client(transport http.RoundTripper) (*extender.Client, error) {
	return extender.New(extender.Config{URL: "http://extender.test", Transport: transport})
}

// Bare answers in process, without encoding anything: the score of a candidate follows
// from its place in the list.
type Bare struct{}

var (
	_ expr.Answerer   = Bare{}
	_ byhand.Extender = Bare{}
)

// Answer implements expr.Answerer.
func (Bare) Answer(_ context.Context, request *expr.Request) (*expr.Response, error) {
	out := &expr.Response{Verdicts: make([]expr.Verdict, request.Candidates.Len())}
	for i := range out.Verdicts {
		if score := scoreAt(i); score > 0 {
			out.Verdicts[i] = expr.Kept(score)
		}
	}
	return out, nil
}

// FilterAndScore implements byhand.Extender.
func (Bare) FilterAndScore(_ context.Context, _ string, _ int64, groups []byhand.VolumeGroupRef) ([]byhand.Score, error) {
	out := make([]byhand.Score, len(groups))
	for i := range groups {
		out[i] = byhand.Score{VolumeGroupRef: groups[i], Score: scoreAt(i)}
	}
	return out, nil
}

// NarrowReservation implements byhand.Extender.
func (Bare) NarrowReservation(context.Context, string, byhand.VolumeGroupRef) error { return nil }

func scoreAt(i int) int64 {
	if i%17 == 0 {
		return 0
	}
	return int64(1 + i%10)
}
