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
	in      Input
	table   *table
	outcome Outcome
	left    set
	// count is the number of rows left.
	count int
	// scores of all rows; nil while every one is zero.
	scores  []int64
	scratch *scratch
	// at is the scope of one row, for what has to be evaluated row by row.
	at *row
}

func runStaged(ctx context.Context, in Input) (*Outcome, error) {
	t, err := find(in)
	if err != nil {
		return nil, err
	}
	r := stagedRun{in: in, table: t, scratch: scratches.Get().(*scratch), count: t.rows, at: t.scope(in.Scope)}
	defer r.scratch.release()
	r.left = r.scratch.set(t.rows)
	r.left.fill(t.rows)
	r.outcome.Total = t.rows
	for i := range in.Select.Steps {
		if err := r.step(ctx, &in.Select.Steps[i]); err != nil {
			return nil, err
		}
	}
	return &r.outcome, r.choose()
}

// find returns the table of the list that candidates come from now.
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
	return p.Eval(r.at, r.in.Meter)
}

func (r *stagedRun) step(ctx context.Context, step *plan.Step) error {
	if r.count == 0 {
		return nil
	}
	on, err := r.in.on(step)
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
	r.outcome.drop(step, before-r.count)
	return nil
}

// choose finds the best row that is left.
func (r *stagedRun) choose() error {
	if r.count == 0 {
		return nil
	}
	if r.in.Select.Take != nil {
		return r.take()
	}
	tied := r.best()
	at, err := r.first(tied)
	if err != nil {
		return err
	}
	r.win(at)
	return nil
}

// win lets a row win.
func (r *stagedRun) win(at int) {
	r.outcome.Winners = append(r.outcome.Winners, Winner{Values: r.table.winner(at), Score: r.scoreOf(at)})
}

// scoreOf returns the score of a row.
func (r *stagedRun) scoreOf(at int) int64 {
	if r.scores == nil {
		return 0
	}
	return r.scores[at]
}

// best returns the rows with the highest score.
func (r *stagedRun) best() set {
	if r.scores == nil {
		return r.left
	}
	best := int64(math.MinInt64)
	for at := range each(r.left) {
		best = max(best, r.scores[at])
	}
	tied := r.scratch.set(r.table.rows)
	for at := range each(r.left) {
		if r.scores[at] == best {
			tied.put(at)
		}
	}
	return tied
}

// first returns the first of some rows by orderBy.
func (r *stagedRun) first(tied set) (int, error) {
	n := tied.len()
	if n < 2 || len(r.in.Select.OrderBy) == 0 {
		return tied.first(), nil
	}
	if r.table.worthRanking(n) {
		if ranks := r.table.ranked(r.in.Scope); ranks != nil && ranks.all(tied) {
			return ranks.first(tied), r.in.Meter.Spend(ranks.charge(tied))
		}
	}
	rows := tied.rows()
	at, err := first(r.in.Select.OrderBy, n, func(i int) expr.Scope {
		r.table.fill(r.at, int(rows[i]))
		return r.at
	}, r.in.Meter)
	if err != nil {
		return 0, err
	}
	return int(rows[at]), nil
}

// errUnknown says that a stage cannot tell.
var errUnknown = errors.New("unknown")
