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

// Apart implements measure.Assisted.
func (asking) Apart() time.Duration { return transport.Used }

// askingFirst asks with a client that has not asked before.
type askingFirst struct {
	request *expr.Request
	clients []*extender.Client
}

func (a *askingFirst) Prepare(n int) error {
	a.clients = a.clients[:0]
	for range n {
		client, err := edict.Client(transport)
		if err != nil {
			return err
		}
		a.clients = append(a.clients, client)
	}
	return nil
}

func (a *askingFirst) Run(i int) error {
	_, err := askedBy(context.Background(), a.clients[i], a.request)
	return err
}

// Apart implements measure.Assisted.
func (*askingFirst) Apart() time.Duration { return transport.Used }

// askedBy asks a client, and returns how many candidates it keeps.
func askedBy(ctx context.Context, client *extender.Client, request *expr.Request) (int, error) {
	response, err := client.Answer(ctx, request)
	if err != nil {
		return 0, err
	}
	return kept(response.Verdicts), nil
}

// askingSides makes both sides of asking the scheduler extender about the same groups
// again and again.
func askingSides(ctx context.Context, s spec) (pair, error) {
	client, err := edict.Client(transport)
	if err != nil {
		return pair{}, err
	}
	request, groups := questions(s.Nodes)
	a := asking{func() (int, error) { return askedBy(ctx, client, request) }}
	b := askingByHand(ctx, groups)
	return pair{a, b, [2]*writes{{}, {}}}, sameAnswers(a, b)
}

// askingFirstSides makes both sides of asking it for the first time.
func askingFirstSides(ctx context.Context, s spec) (pair, error) {
	request, groups := questions(s.Nodes)
	return pair{&askingFirst{request: request}, askingByHand(ctx, groups), [2]*writes{{}, {}}}, nil
}

func askingByHand(ctx context.Context, groups []byhand.VolumeGroupRef) asking {
	client := byhand.NewExtenderClient("http://extender.test", transport)
	return asking{func() (int, error) {
		scores, err := client.FilterAndScore(ctx, "pvc-1", 1<<30, groups)
		return len(scores), err
	}}
}

func questions(nodes int) (*expr.Request, []byhand.VolumeGroupRef) {
	request := &expr.Request{Query: extender.FilterAndScore, With: value.FromMap(map[string]value.Value{
		"reservationID": value.OfString("pvc-1"), "ttl": value.OfDuration(2 * time.Second), "size": value.OfInt(1 << 30),
	})}
	var groups []byhand.VolumeGroupRef
	var candidates []*value.Map
	for i := range nodes {
		for which := range 2 {
			name := objects.GroupName(i, which)
			groups = append(groups, byhand.VolumeGroupRef{Name: name})
			candidates = append(candidates, value.FromMap(map[string]value.Value{"name": value.OfString(name)}))
		}
	}
	request.Candidates = expr.CandidatesOf(candidates...)
	return request, groups
}

func kept(verdicts []expr.Verdict) (n int) {
	for _, v := range verdicts {
		if v.Keep() {
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
