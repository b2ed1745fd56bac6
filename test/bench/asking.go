package main

import (
	"context"
	"fmt"
	"time"

	"github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/bench/byhand"
	"github.com/edict-dev/edict/test/bench/edict"
	"github.com/edict-dev/edict/test/bench/objects"
)

// asking asks the scheduler extender to score volume groups, two for each node.
type asking struct{ ask func() (kept int, err error) }

func (asking) Prepare(int) error { return nil }

func (a asking) Run(int) error {
	_, err := a.ask()
	return err
}

// askingSides makes both sides of asking the scheduler extender.
func askingSides(ctx context.Context, s spec) (pair, error) {
	client, err := edict.Client(transport)
	if err != nil {
		return pair{}, err
	}
	request, groups := questions(s.Nodes)
	a := asking{func() (int, error) {
		response, err := client.Answer(ctx, request)
		if err != nil {
			return 0, err
		}
		return kept(response.Verdicts), nil
	}}
	hand := byhand.NewExtenderClient("http://extender.test", transport)
	b := asking{func() (int, error) {
		scores, err := hand.FilterAndScore(ctx, "pvc-1", 1<<30, groups)
		return len(scores), err
	}}
	return pair{a, b, [2]*writes{{}, {}}}, sameAnswers(a, b)
}

func questions(nodes int) (*expr.Request, []byhand.VolumeGroupRef) {
	request := &expr.Request{Query: extender.FilterAndScore, With: value.FromMap(map[string]value.Value{
		"reservationID": value.OfString("pvc-1"), "ttl": value.OfDuration(2 * time.Second), "size": value.OfInt(1 << 30),
	})}
	var groups []byhand.VolumeGroupRef
	for i := range nodes {
		for which := range 2 {
			name := objects.GroupName(i, which)
			groups = append(groups, byhand.VolumeGroupRef{Name: name})
			request.Candidates = append(request.Candidates, value.FromMap(map[string]value.Value{"name": value.OfString(name)}))
		}
	}
	return request, groups
}

func kept(verdicts []expr.Verdict) (n int) {
	for _, v := range verdicts {
		if v.Keep {
			n++
		}
	}
	return n
}

// sameAnswers returns an error unless both sides keep as many candidates.
func sameAnswers(a, b asking) error {
	x, err := a.ask()
	if err != nil {
		return err
	}
	y, err := b.ask()
	if err == nil && (x != y || x == 0) {
		err = fmt.Errorf("Edict keeps %d candidates, the other side %d", x, y) //nolint:staticcheck // a name
	}
	return err
}
