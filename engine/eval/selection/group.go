package selection

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// groups are the rows that are left, by the group they belong to.
type groups struct {
	// of is the group of every row, -1 for none; ids is what they were taken
	// from, if that is a property of the candidates.
	of  []int32
	ids *ids
	// n is one more than the highest group.
	n int
	// order are the groups that have rows, by the first row of each; size is how
	// many rows each has.
	order []int32
	size  []int32
}

// scoreGroups returns every row the points of its group.
func (r *stagedRun) scoreGroups(step *plan.Step) error {
	g, err := r.group(step)
	if err != nil {
		return err
	}
	points, err := r.groupScores(step, g)
	if err != nil {
		return err
	}
	r.zero()
	for at := range each(r.left) {
		if p := points[g.of[at]]; p != 0 {
			if r.scores[at], err = add(step, r.scores[at], p); err != nil {
				return err
			}
		}
	}
	return nil
}

// group finds the groups of the rows that are left.
func (r *stagedRun) group(step *plan.Step) (*groups, error) {
	g := &groups{}
	if step.GroupOwn {
		column := r.table.column(step.GroupBy, r.Scope)
		g.ids = column.ids()
		g.of, g.n = g.ids.of, g.ids.n
		if err := r.Meter.Spend(column.charge(r.left)); err != nil {
			return nil, err
		}
	}
	if g.ids == nil || r.unplaced(g.ids) {
		if err := r.groupPlainly(step, g); err != nil {
			return nil, err
		}
	}
	g.size = r.scratch.ids.take(g.n)
	g.order = r.scratch.ids.take(min(g.n, r.count))[:0]
	for at := range each(r.left) {
		group := g.of[at]
		if g.size[group] == 0 {
			g.order = append(g.order, group)
		}
		g.size[group]++
	}
	return g, nil
}

// unplaced reports whether a row that is left has no number.
func (r *stagedRun) unplaced(x *ids) bool {
	if !x.missing {
		return false
	}
	for at := range each(r.left) {
		if x.of[at] < 0 {
			return true
		}
	}
	return false
}

func (r *stagedRun) groupPlainly(step *plan.Step, g *groups) error {
	g.of, g.ids = r.scratch.ids.take(r.table.rows), nil
	numbers := map[string]int32{}
	for at := range each(r.left) {
		v, err := r.eval(step.GroupBy, at)
		if err != nil {
			return err
		}
		id := value.Identity(v)
		n, known := numbers[id]
		if !known {
			n = int32(len(numbers))
			numbers[id] = n
		}
		g.of[at] = n
	}
	g.n = len(numbers)
	return nil
}

// facts are the numbers that the points of a group follow from.
type facts [4]int64

// groupScores returns the points of every group that has rows.
func (r *stagedRun) groupScores(step *plan.Step, g *groups) ([]int64, error) {
	points := r.scratch.numbers.take(g.n)
	counts, ok := r.counts(step.Fold, g)
	if ok {
		return points, counts.points(g.order, r.fold(step), points)
	}
	for _, group := range g.order {
		var err error
		if points[group], err = groupPoints(step, r.membersOf(g, group), r.Scope, r.Meter); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// counts are the numbers of all groups, for each fact; nil where it is not asked for.
type counts [len(facts{})][]int32

// counts returns the numbers of the groups; false when the points follow from more
// than numbers, or a number cannot be told.
func (r *stagedRun) counts(fold *analyze.Fold, g *groups) (c counts, ok bool) {
	if fold == nil || len(fold.Distinct)+1 > len(c) {
		return c, false
	}
	if fold.Size != "" {
		c[0] = g.size
	}
	for i := range fold.Distinct {
		of := r.table.memberColumn(&fold.Distinct[i], r.Scope).ids()
		if r.unplaced(of) {
			return c, false
		}
		c[i+1] = r.different(g, of)
	}
	return c, true
}

// of returns the numbers of a group.
func (c *counts) of(group int32) (f facts) {
	for i, numbers := range c {
		if numbers != nil {
			f[i] = int64(numbers[group])
		}
	}
	return f
}

// only returns which fact is the only one that is asked for; -1 where there are others.
func (c *counts) only() int {
	at := -1
	for i, numbers := range c {
		switch {
		case numbers != nil && at >= 0:
			return -1
		case numbers != nil:
			at = i
		}
	}
	return at
}

// points sets the points of some groups.
func (c *counts) points(order []int32, compute func(facts) (int64, error), into []int64) (err error) {
	if at := c.only(); at >= 0 {
		return pointsBy(c[at], order, func(n int32) (int64, error) {
			var f facts
			f[at] = int64(n)
			return compute(f)
		}, into)
	}
	var known folded
	for _, group := range order {
		if into[group], err = known.points(c.of(group), compute); err != nil {
			return err
		}
	}
	return nil
}

// pointsBy is points where they follow from one number of each group, which mostly is
// small.
func pointsBy(numbers, order []int32, compute func(n int32) (int64, error), into []int64) (err error) {
	var known [maxKinds]struct {
		points int64
		is     bool
	}
	for _, group := range order {
		n := numbers[group]
		if n < maxKinds && known[n].is {
			into[group] = known[n].points
			continue
		}
		if into[group], err = compute(n); err != nil {
			return err
		}
		if n < maxKinds {
			known[n].points, known[n].is = into[group], true
		}
	}
	return nil
}

// folded keeps the points of each kind of group. There are few kinds: groups
// of one candidate, of two.
type folded []struct {
	facts  facts
	points int64
}

func (k *folded) points(f facts, compute func(facts) (int64, error)) (int64, error) {
	for i := range *k {
		if (*k)[i].facts == f {
			return (*k)[i].points, nil
		}
	}
	points, err := compute(f)
	if err == nil && len(*k) < maxKinds {
		*k = append(*k, struct {
			facts  facts
			points int64
		}{f, points})
	}
	return points, err
}

// maxKinds is how many kinds of groups are told apart before their points are
// computed each time.
const maxKinds = 64

// fold returns what evaluates the points for some numbers.
func (r *stagedRun) fold(step *plan.Step) func(facts) (int64, error) {
	scope := row{Scope: r.Scope}
	return func(f facts) (int64, error) {
		scope.names, scope.values = scope.names[:0], scope.values[:0]
		if step.Fold.Size != "" {
			scope.names, scope.values = append(scope.names, step.Fold.Size), append(scope.values, value.OfInt(f[0]))
		}
		for i, d := range step.Fold.Distinct {
			scope.names, scope.values = append(scope.names, d.Name), append(scope.values, value.OfInt(f[i+1]))
		}
		v, err := step.Fold.Program.Eval(&scope, r.Meter)
		if err != nil {
			return 0, err
		}
		return integer(step.Expression, v)
	}
}

func (r *stagedRun) membersOf(g *groups, group int32) []value.Value {
	out, names := make([]value.Value, 0, g.size[group]), value.NamesOf(r.table.sel.Names...)
	for at := range each(r.left) {
		if g.of[at] == group {
			out = append(out, names.Map(r.table.winner(at)...))
		}
	}
	return out
}
