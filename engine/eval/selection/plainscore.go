package selection

import (
	"cmp"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// integers evaluates the step's expression for every candidate.
func (r *plainRun) integers(step *plan.Step) ([]int64, error) {
	out := make([]int64, len(r.left))
	for i, c := range r.left {
		v, err := step.Expression.Eval(r.scope(c), r.in.Meter)
		if err == nil {
			out[i], err = integer(step.Expression, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
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
	c.details.points(step, points)
	return err
}

// scoreGroups returns every candidate the points of its group, group by group in
// the order of their first members.
func (r *plainRun) scoreGroups(step *plan.Step) error {
	groups := map[string][]*candidate{}
	var order []string
	for _, c := range r.left {
		v, err := step.GroupBy.Eval(r.scope(c), r.in.Meter)
		if err != nil {
			return err
		}
		id := value.Identity(v)
		if groups[id] == nil {
			order = append(order, id)
		}
		groups[id] = append(groups[id], c)
	}
	names := value.NamesOf(r.in.Select.Names...)
	for _, id := range order {
		members := make([]value.Value, len(groups[id]))
		for i, c := range groups[id] {
			members[i] = names.Map(c.values...)
		}
		points, err := groupPoints(step, members, r.in.Scope, r.in.Meter)
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

// choose finds the best candidate that is left: the highest score, then the
// first by orderBy, then the first as they came.
func (r *plainRun) choose() error {
	if len(r.left) == 0 {
		return nil
	}
	r.rank()
	if r.in.Select.Take != nil {
		return r.take()
	}
	best := slices.MaxFunc(r.left, func(a, b *candidate) int { return cmp.Compare(a.score, b.score) }).score
	tied := slices.DeleteFunc(slices.Clone(r.left), func(c *candidate) bool { return c.score != best })
	at, err := first(r.in.Select.OrderBy, len(tied), func(i int) expr.Scope { return r.scope(tied[i]) }, r.in.Meter)
	if err != nil {
		return err
	}
	r.win(tied[at])
	return nil
}

// win lets a candidate win.
func (r *plainRun) win(c *candidate) {
	r.outcome.Winners = append(r.outcome.Winners, Winner{Values: c.values, Score: c.score})
	c.details.won()
}

// first returns the index of the first of n candidates by some expressions.
func first(orderBy []*cel.Program, n int, scope func(int) expr.Scope, meter *expr.Meter) (int, error) {
	if n < 2 || len(orderBy) == 0 {
		return 0, nil
	}
	at := 0
	lowest, keys := make([]value.Value, len(orderBy)), make([]value.Value, len(orderBy))
	for i := range n {
		if err := orderKeys(keys, orderBy, scope(i), meter); err != nil {
			return 0, err
		}
		if i == 0 || value.CompareAll(keys, lowest) < 0 {
			at, lowest, keys = i, keys, lowest
		}
	}
	return at, nil
}

// orderKeys evaluates expressions by which something is sorted.
func orderKeys(into []value.Value, orderBy []*cel.Program, scope expr.Scope, meter *expr.Meter) error {
	for i, p := range orderBy {
		v, err := p.Eval(scope, meter)
		if err != nil {
			return err
		}
		into[i] = v
	}
	return nil
}
