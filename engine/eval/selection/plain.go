package selection

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// candidate is one candidate of a plain selection.
type candidate struct {
	values []value.Value
	score  int64
	trace  *CandidateTrace
}

// plainRun takes every candidate through every step.
type plainRun struct {
	Input
	outcome Outcome
	left    []*candidate
}

func runPlain(ctx context.Context, in Input) (*Outcome, error) {
	r := plainRun{Input: in}
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
	if r.outcome.Trace != nil {
		r.outcome.Trace.Excluded = r.outcome.Excluded
	}
	return &r.outcome, r.choose()
}

// expand visits the items of a level, and of the levels below for each.
func (r *plainRun) expand(scope expr.Scope, values []value.Value) error {
	depth := len(values)
	if depth == len(r.Select.Levels) {
		r.left = append(r.left, &candidate{values: values})
		return nil
	}
	items, err := levelItems(&r.Select.Levels[depth], scope, r.Meter)
	if err != nil {
		return err
	}
	for _, item := range items {
		next := append(values[:depth:depth], item)
		if err := r.expand(&row{Scope: r.Scope, names: r.Select.Names[:depth+1], values: next}, next); err != nil {
			return err
		}
	}
	return nil
}

func (r *plainRun) scope(c *candidate) *row {
	return &row{Scope: r.Scope, names: r.Select.Names, values: c.values}
}

func (r *plainRun) step(ctx context.Context, step *plan.Step) error {
	if len(r.left) == 0 {
		return nil
	}
	on, err := r.on(step)
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
	r.outcome.exclude(step, before-len(r.left))
	return err
}

// keep drops the candidates that a function refuses.
func (r *plainRun) keep(step *plan.Step, judge func(i int, c *candidate) bool) {
	kept := make([]*candidate, 0, len(r.left))
	for i, c := range r.left {
		if judge(i, c) {
			kept = append(kept, c)
		} else {
			c.trace.exclude(step)
		}
	}
	r.left = kept
}

func (r *plainRun) filter(step *plan.Step) error {
	stays := make([]bool, len(r.left))
	for i, c := range r.left {
		v, err := step.Expression.Eval(r.scope(c), r.Meter)
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
	with, err := fields(step.Ask.With, r.Scope, r.Meter)
	if err != nil {
		return &AskError{Ask: step.Ask, Err: err}
	}
	candidates := make([]*value.Map, len(r.left))
	for i, c := range r.left {
		if candidates[i], err = fields(step.Ask.Candidate, r.scope(c), r.Meter); err != nil {
			return &AskError{Ask: step.Ask, Err: err}
		}
	}
	verdicts, err := r.score(ctx, step.Ask, with, candidates)
	if err != nil {
		return err
	}
	r.keep(step, func(i int, c *candidate) bool {
		c.score = verdicts[i].Score
		c.trace.scored(step, verdicts[i])
		return verdicts[i].Keep
	})
	return nil
}

// integers evaluates the step's expression for every candidate.
func (r *plainRun) integers(step *plan.Step) ([]int64, error) {
	out := make([]int64, len(r.left))
	for i, c := range r.left {
		v, err := step.Expression.Eval(r.scope(c), r.Meter)
		if err == nil {
			out[i], err = integer(step.Expression, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
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

func (r *plainRun) scoreEach(step *plan.Step) error {
	points, err := r.integers(step)
	if err != nil {
		return err
	}
	for i, c := range r.left {
		if err := r.award(step, c, points[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *plainRun) award(step *plan.Step, c *candidate, points int64) (err error) {
	c.score, err = add(step, c.score, points)
	c.trace.points(step, points)
	return err
}

// scoreGroups gives every candidate the points of its group, group by group in
// the order of their first members.
func (r *plainRun) scoreGroups(step *plan.Step) error {
	groups := map[string][]*candidate{}
	var order []string
	for _, c := range r.left {
		v, err := step.GroupBy.Eval(r.scope(c), r.Meter)
		if err != nil {
			return err
		}
		id := value.Identity(v)
		if groups[id] == nil {
			order = append(order, id)
		}
		groups[id] = append(groups[id], c)
	}
	for _, id := range order {
		members := make([]value.Value, len(groups[id]))
		for i, c := range groups[id] {
			members[i] = member(r.Select.Names, c.values)
		}
		points, err := groupPoints(step, members, r.Scope, r.Meter)
		if err != nil {
			return err
		}
		for _, c := range groups[id] {
			if err := r.award(step, c, points); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupPoints evaluates the points of a group.
func groupPoints(step *plan.Step, members []value.Value, scope expr.Scope, meter *expr.Meter) (int64, error) {
	inner := &row{Scope: scope, names: []string{"members"}, values: []value.Value{value.NewList(members)}}
	v, err := step.Expression.Eval(inner, meter)
	if err != nil {
		return 0, err
	}
	return integer(step.Expression, v)
}

// member is a candidate as the expressions of a group see it.
func member(names []string, values []value.Value) value.Value {
	m := make(map[string]value.Value, len(names))
	for i, name := range names {
		m[name] = values[i]
	}
	return value.FromMap(m)
}

// choose finds the best candidate that is left: the highest score, then the
// first by orderBy, then the first as they came.
func (r *plainRun) choose() error {
	if len(r.left) == 0 {
		return nil
	}
	best := slices.MaxFunc(r.left, func(a, b *candidate) int { return compareScores(a.score, b.score) }).score
	tied := slices.DeleteFunc(slices.Clone(r.left), func(c *candidate) bool { return c.score != best })
	at, err := first(r.Select.OrderBy, len(tied), func(i int) expr.Scope { return r.scope(tied[i]) }, r.Meter)
	if err != nil {
		return err
	}
	r.outcome.Winner, r.outcome.Score = tied[at].values, best
	tied[at].trace.won()
	return nil
}

func compareScores(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// first gives the index of the first of n candidates by some expressions.
func first(orderBy []*cel.Program, n int, scope func(int) expr.Scope, meter *expr.Meter) (int, error) {
	if n < 2 || len(orderBy) == 0 {
		return 0, nil
	}
	at := 0
	var lowest []value.Value
	for i := range n {
		keys, err := orderKeys(orderBy, scope(i), meter)
		if err != nil {
			return 0, err
		}
		if lowest == nil || value.CompareAll(keys, lowest) < 0 {
			at, lowest = i, keys
		}
	}
	return at, nil
}

func orderKeys(orderBy []*cel.Program, scope expr.Scope, meter *expr.Meter) ([]value.Value, error) {
	out := make([]value.Value, len(orderBy))
	for i, p := range orderBy {
		v, err := p.Eval(scope, meter)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
