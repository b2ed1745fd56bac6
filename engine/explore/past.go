package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/simulate"
)

// past is what all policies decided from the start to a horizon.
type past struct {
	horizon time.Duration
	// records are the decisions that wrote something or failed, in order.
	records []*record.Record
	// ahead are the deadlines behind the horizon.
	ahead []simulate.Requeue
	ended string
}

// run runs all policies, and keeps what they decided.
func (w *World) run(ctx context.Context, horizon time.Duration) (*past, error) {
	w.running.Lock()
	defer w.running.Unlock()
	if w.past != nil && w.past.horizon == horizon {
		return w.past, nil
	}
	p := &past{horizon: horizon}
	s := simulate.New(ctx, simulate.Options{
		Policies: w.options.Bundle.Policies, Schemas: w.schemas, Objects: w.options.Objects, Guard: w.options.Guard, Start: w.options.Start, Answers: w.options.Answers,
		Records: &record.Log{Seen: p.see},
	})
	s.Settle(ctx)
	s.Advance(ctx, w.options.Start.Add(horizon))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.ahead, p.ended = s.Result().Requeue, s.Ended()
	slices.SortStableFunc(p.ahead, func(a, b simulate.Requeue) int { return a.At.Compare(b.At) })
	w.past = p
	return p, nil
}

// see keeps a decision that did something, as long as events of it are shown. Each
// holds on to the objects as they were.
func (p *past) see(r *record.Record) {
	if len(p.records) < maxEvents && (len(r.Outcomes) > 0 || r.Errors[0] != nil || r.Errors[1] != nil) {
		p.records = append(p.records, r)
	}
}

// DefaultHorizon is how far policies run unless a horizon is asked for.
const DefaultHorizon = time.Hour

// recorded returns a decision that was made while the policies ran.
func (w *World) recorded(ctx context.Context, q Question) (*record.Record, error) {
	w.running.Lock()
	horizon := DefaultHorizon
	if w.past != nil {
		horizon = w.past.horizon
	}
	w.running.Unlock()
	p, err := w.run(ctx, horizon)
	if err != nil {
		return nil, err
	}
	for _, r := range p.records {
		if r.ID() == q.Record && r.Inputs.Policy.ID() == q.Policy && r.Inputs.Key == q.Key {
			return r, nil
		}
	}
	return nil, &NotFoundError{What: fmt.Sprintf("the policy %s has made no decision %s about %s before the horizon", q.Policy, q.Record, q.Key)}
}
