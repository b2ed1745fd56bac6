package selection

import (
	"context"
	"math"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// spend charges what a step costs plainly, less what it has cost already.
func (r *stagedRun) spend(before, plain uint64) error {
	if done := r.in.Meter.Spent() - before; done < plain {
		return r.in.Meter.Spend(plain - done)
	}
	return nil
}

// plainCost is what an expression costs for the rows that are left, when that
// is known beforehand.
func (r *stagedRun) plainCost(step *plan.Step) uint64 {
	if step.Stage.Form == analyze.StageOwn {
		return r.table.column(step.Stage.Own, r.in.Scope).charge(r.left)
	}
	if weight, fixed := step.Expression.Weight(); fixed {
		return weight * uint64(r.count)
	}
	return 0
}

func (r *stagedRun) filter(step *plan.Step) error {
	before, cost := r.in.Meter.Spent(), r.plainCost(step)
	yes, no := r.truth(step.Stage, r.left)
	// What the stages cannot tell is asked plainly, row by row.
	for at := range each(r.scratch.copy(r.left).without(yes).without(no)) {
		v, err := r.eval(step.Expression, at)
		holds := false
		if err == nil {
			holds, err = truth(step.Expression, v)
		}
		if err != nil {
			return err
		}
		if holds {
			yes.put(at)
		}
	}
	r.left.and(yes)
	return r.spend(before, cost)
}

func (r *stagedRun) query(ctx context.Context, step *plan.Step) error {
	ask := step.Ask
	with, err := fields(ask.With, r.in.Scope, r.in.Meter)
	if err != nil {
		return err
	}
	candidates, err := r.asked(ask)
	if err != nil {
		return err
	}
	verdicts, err := r.in.score(ctx, ask, with, candidates)
	if err != nil {
		return err
	}
	r.zero()
	i := 0
	for at := range each(r.left) {
		if verdicts[i].Keep() {
			r.scores[at] = verdicts[i].Score()
		} else {
			r.left.drop(at)
		}
		i++
	}
	return nil
}

// asked returns what is sent of the candidates that are left.
func (r *stagedRun) asked(ask *plan.Ask) (out expr.Candidates, err error) {
	if !ask.Own {
		return r.askedPlainly(ask, nil)
	}
	known := r.table.requests(ask.Candidate, r.in.Scope)
	if !r.left.within(known.known) {
		return r.askedPlainly(ask, known)
	}
	out, cost, weight := known.of(r.left, r.count)
	if err := r.in.Meter.Built(weight); err != nil {
		return out, &expr.Failure{At: ask.Candidate.Pos(), Err: err}
	}
	return out, r.in.Meter.Spend(cost)
}

// askedPlainly is asked where not all requests are known.
func (r *stagedRun) askedPlainly(ask *plan.Ask, known *requests) (none expr.Candidates, err error) {
	out := make([]*value.Map, 0, r.count)
	var cost uint64
	for at := range each(r.left) {
		if known != nil && known.known.has(at) {
			cost += uint64(known.drafts.costs[at])
			if err := r.in.Meter.Built(int(known.drafts.weights[at])); err != nil {
				return none, &expr.Failure{At: ask.Candidate.Pos(), Err: err}
			}
			out = append(out, known.rows.At(at))
			continue
		}
		r.table.fill(r.at, at)
		m, err := fields(ask.Candidate, r.at, r.in.Meter)
		if err != nil {
			return none, err
		}
		out = append(out, m)
	}
	return expr.CandidatesOf(out...), r.in.Meter.Spend(cost)
}

// zero makes the scores of all rows, if there are none yet.
func (r *stagedRun) zero() {
	if r.scores == nil {
		r.scores = r.scratch.numbers.take(r.table.rows)
	}
}

// integers evaluates a step's expression for the rows that are left.
func (r *stagedRun) integers(step *plan.Step) ([]int64, error) {
	before, cost := r.in.Meter.Spent(), r.plainCost(step)
	out := r.scratch.numbers.take(r.table.rows)
	known := r.scratch.set(r.table.rows)
	r.numbers(step.Stage, r.left, out, known)
	for at := range each(r.scratch.copy(r.left).without(known)) {
		v, err := r.eval(step.Expression, at)
		if err == nil {
			out[at], err = integer(step.Expression, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, r.spend(before, cost)
}

func (r *stagedRun) scoreEach(step *plan.Step) error {
	points, err := r.integers(step)
	if err != nil {
		return err
	}
	r.zero()
	for at := range each(r.left) {
		if points[at] == 0 {
			continue
		}
		if r.scores[at], err = add(step, r.scores[at], points[at]); err != nil {
			return err
		}
	}
	return nil
}

func (r *stagedRun) prefer(step *plan.Step) error {
	tiers, err := r.integers(step)
	if err != nil {
		return err
	}
	best := int64(math.MinInt64)
	for at := range each(r.left) {
		best = max(best, tiers[at])
	}
	for at := range each(r.left) {
		if tiers[at] != best {
			r.left.drop(at)
		}
	}
	return nil
}
