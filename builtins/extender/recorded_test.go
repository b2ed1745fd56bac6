package extender

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

func TestRecorded(t *testing.T) {
	t.Parallel()
	pool := func(name, thin string) *value.Map {
		return value.FromMap(map[string]value.Value{"name": value.OfString(name), "thinPoolName": value.OfString(thin)})
	}
	score := func(scores ...int64) expr.Exchange {
		e := expr.Exchange{Request: &expr.Request{Query: FilterAndScore}, Response: &expr.Response{}}
		pools := []*value.Map{pool("a", ""), pool("b", "thin"), pool("c", "")}
		e.Request.Candidates = expr.CandidatesOf(pools[:len(scores)]...)
		e.Response.Verdicts = make([]expr.Verdict, len(scores))
		for i, s := range scores {
			if s > 0 {
				e.Response.Verdicts[i] = expr.Kept(s)
			}
		}
		return e
	}
	failed := expr.Exchange{Request: &expr.Request{Query: FilterAndScore}, Err: badStatus(503)}
	narrowed := expr.Exchange{Request: &expr.Request{Query: NarrowReservation}, Err: badStatus(500)}
	for name, tc := range map[string]struct {
		exchanges []expr.Exchange
		want      map[string]any
		differ    bool
	}{
		"nothing was asked":        {nil, nil, false},
		"scores":                   {[]expr.Exchange{score(3, 7, 0)}, map[string]any{"scores": map[string]any{"a": int64(3), "b/thin": int64(7)}}, false},
		"the same scores again":    {[]expr.Exchange{score(3, 7, 0), score(3)}, map[string]any{"scores": map[string]any{"a": int64(3), "b/thin": int64(7)}}, false},
		"another score":            {[]expr.Exchange{score(3), score(4)}, nil, true},
		"a score, then none":       {[]expr.Exchange{score(3), score(0)}, nil, true},
		"none, then a score":       {[]expr.Exchange{score(0), score(3)}, nil, true},
		"a failure":                {[]expr.Exchange{failed}, map[string]any{"error": "unexpected status 503"}, false},
		"a failure, then scores":   {[]expr.Exchange{failed, score(1)}, nil, true},
		"a reservation that fails": {[]expr.Exchange{score(3), narrowed}, map[string]any{"scores": map[string]any{"a": int64(3)}, "narrowError": "unexpected status 500"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Recorded(tc.exchanges)
			if diff := cmp.Diff(tc.want, got); diff != "" || errors.Is(err, errDiffer) != tc.differ {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
