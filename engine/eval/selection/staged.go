package selection

import (
	"context"
	"errors"
	"math"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// stagedRun takes sets of candidates through the steps.
type stagedRun struct {
	Input
	*table
	outcome Outcome
	left    set
	// count is the number of rows left.
	count int
	// scores of all rows; nil while every one is zero.
	scores []int64
	// at is the scope of one row, for what has to be evaluated row by row.
	at *row
}

func runStaged(ctx context.Context, in Input) (*Outcome, error) {
	t, err := find(in)
	if err != nil {
		return nil, err
	}
	r := stagedRun{Input: in, table: t, left: all(t.rows), count: t.rows, at: t.scope(in.Scope)}
	r.outcome.Total = t.rows
	for i := range in.Select.Steps {
		if err := r.step(ctx, &in.Select.Steps[i]); err != nil {
			return nil, err
		}
	}
	return &r.outcome, r.choose()
}

// find gives the table of the list that candidates come from now.
func find(in Input) (*table, error) {
	list, err := levelList(&in.Select.Levels[0], in.Scope, in.Meter)
	if err != nil {
		return nil, err
	}
	found, like := in.Cache.find(in.Select, list)
	if found != nil {
		in.Meter.Grow(found.listed)
		return found, in.Meter.Spend(found.cost)
	}
	t, err := newTable(in.Select, list, like, in.Scope, in.Meter)
	if err != nil {
		return nil, err
	}
	in.Cache.keep(t, like)
	return t, nil
}

// eval evaluates an expression for one row.
func (r *stagedRun) eval(p *cel.Program, at int) (value.Value, error) {
	r.table.fill(r.at, at)
	return p.Eval(r.at, r.Meter)
}

func (r *stagedRun) step(ctx context.Context, step *plan.Step) error {
	if r.count == 0 {
		return nil
	}
	on, err := r.on(step)
	if err != nil || !on {
		return err
	}
	switch {
	case step.Kind == plan.Filter:
		err = r.filter(step)
	case step.Kind == plan.Query:
		err = r.query(ctx, step)
	case step.Kind == plan.Prefer:
		err = r.prefer(step)
	case step.GroupBy != nil:
		err = r.scoreGroups(step)
	default:
		err = r.scoreEach(step)
	}
	if err != nil {
		return err
	}
	before := r.count
	r.count = r.left.len()
	r.outcome.exclude(step, before-r.count)
	return nil
}

// spend charges what a step costs plainly, less what it has cost already.
func (r *stagedRun) spend(before, plain uint64) error {
	if done := r.Meter.Spent() - before; done < plain {
		return r.Meter.Spend(plain - done)
	}
	return nil
}

// plainCost is what an expression costs for the rows that are left, when that
// is known beforehand.
func (r *stagedRun) plainCost(step *plan.Step) uint64 {
	if step.Stage.Form == cel.StageOwn {
		return r.table.column(step.Stage.Own, r.Scope).charge(r.left)
	}
	if weight, fixed := step.Expression.Weight(); fixed {
		return weight * uint64(r.count)
	}
	return 0
}

func (r *stagedRun) filter(step *plan.Step) error {
	before, cost := r.Meter.Spent(), r.plainCost(step)
	yes, no := r.truth(step.Stage, r.left)
	// What the stages cannot tell is asked plainly, row by row.
	for at := range each(r.left.clone().without(yes).without(no)) {
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
	with, err := fields(ask.With, r.Scope, r.Meter)
	if err != nil {
		return &AskError{Ask: ask, Err: err}
	}
	candidates, err := r.asked(ask)
	if err != nil {
		return &AskError{Ask: ask, Err: err}
	}
	verdicts, err := r.score(ctx, ask, with, candidates)
	if err != nil {
		return err
	}
	r.zero()
	i := 0
	for at := range each(r.left) {
		if verdicts[i].Keep {
			r.scores[at] = verdicts[i].Score
		} else {
			r.left.drop(at)
		}
		i++
	}
	return nil
}

// asked gives what is sent of the candidates that are left.
func (r *stagedRun) asked(ask *plan.Ask) ([]*value.Map, error) {
	var known *requests
	if ask.Own {
		known = r.table.requests(ask.Candidate, r.Scope)
	}
	out := make([]*value.Map, 0, r.count)
	var cost uint64
	for at := range each(r.left) {
		if known != nil && known.vals[at] != nil {
			cost += uint64(known.costs[at])
			if err := r.Meter.Build(known.vals[at]); err != nil {
				return nil, &expr.Failure{At: ask.Candidate.Pos(), Err: err}
			}
			out = append(out, known.vals[at])
			continue
		}
		r.table.fill(r.at, at)
		m, err := fields(ask.Candidate, r.at, r.Meter)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, r.Meter.Spend(cost)
}

// zero makes the scores of all rows, if there are none yet.
func (r *stagedRun) zero() {
	if r.scores == nil {
		r.scores = make([]int64, r.table.rows)
	}
}

// integers evaluates a step's expression for the rows that are left.
func (r *stagedRun) integers(step *plan.Step) ([]int64, error) {
	before, cost := r.Meter.Spent(), r.plainCost(step)
	out := make([]int64, r.table.rows)
	known := newSet(r.table.rows)
	r.numbers(step.Stage, r.left, out, known)
	for at := range each(r.left.clone().without(known)) {
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

// choose finds the best row that is left.
func (r *stagedRun) choose() error {
	if r.count == 0 {
		return nil
	}
	tied, best := r.best()
	at, err := r.first(tied)
	if err != nil {
		return err
	}
	r.outcome.Winner, r.outcome.Score = r.table.winner(at), best
	return nil
}

// best gives the rows with the highest score.
func (r *stagedRun) best() (tied set, best int64) {
	if r.scores == nil {
		return r.left, 0
	}
	best = math.MinInt64
	for at := range each(r.left) {
		best = max(best, r.scores[at])
	}
	tied = newSet(r.table.rows)
	for at := range each(r.left) {
		if r.scores[at] == best {
			tied.put(at)
		}
	}
	return tied, best
}

// first gives the first of some rows by orderBy.
func (r *stagedRun) first(tied set) (int, error) {
	n := tied.len()
	if n < 2 || len(r.Select.OrderBy) == 0 {
		return tied.first(), nil
	}
	if ranks := r.table.ranked(r.Scope); ranks != nil && ranks.all(tied) {
		return ranks.first(tied), r.Meter.Spend(ranks.charge(tied))
	}
	rows := tied.rows()
	at, err := first(r.Select.OrderBy, n, func(i int) expr.Scope {
		r.table.fill(r.at, int(rows[i]))
		return r.at
	}, r.Meter)
	if err != nil {
		return 0, err
	}
	return int(rows[at]), nil
}

// errUnknown says that a stage cannot tell.
var errUnknown = errors.New("unknown")
