package selection

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// candidate is one candidate of a plain selection.
type candidate struct {
	values  []value.Value
	score   int64
	details *CandidateDetails
}

// plainRun takes every candidate through every step.
type plainRun struct {
	in      Input
	outcome Outcome
	left    []*candidate
}

func runPlain(ctx context.Context, in Input) (*Outcome, error) {
	r := plainRun{in: in}
	if err := r.expand(in.Scope, nil); err != nil {
		return nil, err
	}
	r.outcome.Total = len(r.left)
	r.begin()
	for i := range in.Select.Steps {
		if err := r.step(ctx, &in.Select.Steps[i]); err != nil {
			return nil, err
		}
	}
	err := r.choose()
	if r.outcome.Details != nil {
		r.outcome.Details.Excluded = r.outcome.Excluded
	}
	return &r.outcome, err
}

// expand visits the items of a level, and of the levels below for each.
func (r *plainRun) expand(scope expr.Scope, values []value.Value) error {
	depth := len(values)
	if depth == len(r.in.Select.Levels) {
		r.left = append(r.left, &candidate{values: values})
		return nil
	}
	items, err := levelItems(&r.in.Select.Levels[depth], scope, r.in.Meter)
	if err == nil && depth+1 == len(r.in.Select.Levels) {
		err = crowded(&r.in.Select.Levels[depth], len(r.left), len(items))
	}
	if err != nil {
		return err
	}
	for _, item := range items {
		next := append(values[:depth:depth], item)
		if err := r.expand(&row{Scope: r.in.Scope, names: r.in.Select.Names[:depth+1], values: next}, next); err != nil {
			return err
		}
	}
	return nil
}

func (r *plainRun) scope(c *candidate) *row {
	return &row{Scope: r.in.Scope, names: r.in.Select.Names, values: c.values}
}

func (r *plainRun) step(ctx context.Context, step *plan.Step) error {
	if len(r.left) == 0 {
		return nil
	}
	on, err := r.in.on(step)
	if err != nil || !on {
		return err
	}
	before := len(r.left)
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
	r.outcome.drop(step, before-len(r.left))
	return err
}

// keep drops the candidates that a function refuses.
func (r *plainRun) keep(step *plan.Step, judge func(i int, c *candidate) bool) {
	kept := make([]*candidate, 0, len(r.left))
	for i, c := range r.left {
		if judge(i, c) {
			kept = append(kept, c)
		} else {
			c.details.exclude(step)
		}
	}
	r.left = kept
}

func (r *plainRun) filter(step *plan.Step) error {
	stays := make([]bool, len(r.left))
	for i, c := range r.left {
		v, err := step.Expression.Eval(r.scope(c), r.in.Meter)
		if err == nil {
			stays[i], err = truth(step.Expression, v)
		}
		if err != nil {
			return err
		}
	}
	r.keep(step, func(i int, _ *candidate) bool { return stays[i] })
	return nil
}

func (r *plainRun) query(ctx context.Context, step *plan.Step) error {
	with, err := fields(step.Ask.With, r.in.Scope, r.in.Meter)
	if err != nil {
		return err
	}
	candidates := make([]*value.Map, len(r.left))
	for i, c := range r.left {
		if candidates[i], err = fields(step.Ask.Candidate, r.scope(c), r.in.Meter); err != nil {
			return err
		}
	}
	verdicts, err := r.in.score(ctx, step.Ask, with, expr.CandidatesOf(candidates...))
	if err != nil {
		return err
	}
	r.keep(step, func(i int, c *candidate) bool {
		c.score = verdicts[i].Score()
		c.details.scored(step, verdicts[i])
		return verdicts[i].Keep()
	})
	return nil
}

func (r *plainRun) prefer(step *plan.Step) error {
	tiers, err := r.integers(step)
	if err != nil {
		return err
	}
	best := slices.Max(tiers)
	r.keep(step, func(i int, _ *candidate) bool { return tiers[i] == best })
	return nil
}
