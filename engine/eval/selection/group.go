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
		column := r.table.column(step.GroupBy, r.in.Scope)
		g.ids = column.ids()
		g.of, g.n = g.ids.of, g.ids.n
		if err := r.in.Meter.Spend(column.charge(r.left)); err != nil {
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

// groupScores returns the points of every group that has rows.
func (r *stagedRun) groupScores(step *plan.Step, g *groups) ([]int64, error) {
	points := r.scratch.numbers.take(g.n)
	counts, ok := r.counts(step.Fold, g)
	if ok {
		return points, counts.points(g.order, r.fold(step), points)
	}
	for _, group := range g.order {
		var err error
		if points[group], err = groupPoints(step, r.membersOf(g, group), r.in.Scope, r.in.Meter); err != nil {
			return nil, err
		}
	}
	return points, nil
}

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
		of := r.table.memberColumn(&fold.Distinct[i], r.in.Scope).ids()
		if r.unplaced(of) {
			return c, false
		}
		c[i+1] = r.different(g, of)
	}
	return c, true
}

// fold returns what evaluates the points for some numbers.
func (r *stagedRun) fold(step *plan.Step) func(facts) (int64, error) {
	scope := row{Scope: r.in.Scope}
	return func(f facts) (int64, error) {
		scope.names, scope.values = scope.names[:0], scope.values[:0]
		if step.Fold.Size != "" {
			scope.names, scope.values = append(scope.names, step.Fold.Size), append(scope.values, value.OfInt(f[0]))
		}
		for i, d := range step.Fold.Distinct {
			scope.names, scope.values = append(scope.names, d.Name), append(scope.values, value.OfInt(f[i+1]))
		}
		v, err := step.Fold.Program.Eval(&scope, r.in.Meter)
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
