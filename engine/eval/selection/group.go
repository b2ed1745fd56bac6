package selection

import (
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// groups are the rows that are left, by the group they belong to.
type groups struct {
	// of is the group of every row, -1 for none.
	of []int32
	// n is one more than the highest group.
	n int
	// order are the groups that have rows, by the first row of each; size is how
	// many rows each has.
	order []int32
	size  []int32
}

// scoreGroups gives every row the points of its group.
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
		ids := column.ids()
		g.of, g.n = ids.of, ids.n
		if err := r.Meter.Spend(column.charge(r.left)); err != nil {
			return nil, err
		}
	}
	if g.of == nil || r.unplaced(g.of) >= 0 {
		if err := r.groupPlainly(step, g); err != nil {
			return nil, err
		}
	}
	g.size = make([]int32, g.n)
	for at := range each(r.left) {
		if g.size[g.of[at]] == 0 {
			g.order = append(g.order, g.of[at])
		}
		g.size[g.of[at]]++
	}
	return g, nil
}

// unplaced gives the first row that is left and has no group, or -1.
func (r *stagedRun) unplaced(of []int32) int {
	for at := range each(r.left) {
		if of[at] < 0 {
			return at
		}
	}
	return -1
}

func (r *stagedRun) groupPlainly(step *plan.Step, g *groups) error {
	g.of = make([]int32, r.table.rows)
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

// groupScores gives the points of every group that has rows.
func (r *stagedRun) groupScores(step *plan.Step, g *groups) ([]int64, error) {
	counts, ok := r.counts(step.Fold, g)
	points := make([]int64, g.n)
	known := map[facts]int64{}
	for _, group := range g.order {
		var err error
		if !ok {
			points[group], err = groupPoints(step, r.membersOf(g, group), r.Scope, r.Meter)
		} else {
			points[group], err = r.folded(step, counts(group), known)
		}
		if err != nil {
			return nil, err
		}
	}
	return points, nil
}

// counts gives the numbers of a group; false when the points follow from more
// than numbers, or a number cannot be told.
func (r *stagedRun) counts(fold *cel.Fold, g *groups) (func(group int32) facts, bool) {
	if fold == nil || len(fold.Distinct)+1 > len(facts{}) {
		return nil, false
	}
	distinct := make([][]int32, len(fold.Distinct))
	for i := range fold.Distinct {
		of := r.table.memberColumn(&fold.Distinct[i], r.Scope).ids()
		if r.unplaced(of.of) >= 0 {
			return nil, false
		}
		distinct[i] = r.different(g, of)
	}
	return func(group int32) (f facts) {
		if fold.Size != "" {
			f[0] = int64(g.size[group])
		}
		for i := range distinct {
			f[i+1] = int64(distinct[i][group])
		}
		return f
	}, true
}

// different counts the different values of a column in every group.
func (r *stagedRun) different(g *groups, of *ids) []int32 {
	out := make([]int32, g.n)
	seen := make(map[int64]struct{}, of.n)
	for at := range each(r.left) {
		pair := int64(g.of[at])<<32 | int64(of.of[at])
		if _, known := seen[pair]; !known {
			seen[pair] = struct{}{}
			out[g.of[at]]++
		}
	}
	return out
}

// folded evaluates the points for some numbers, once for each kind of group.
func (r *stagedRun) folded(step *plan.Step, f facts, known map[facts]int64) (int64, error) {
	if points, ok := known[f]; ok {
		return points, nil
	}
	scope := &row{Scope: r.Scope}
	if step.Fold.Size != "" {
		scope.names, scope.values = append(scope.names, step.Fold.Size), append(scope.values, value.OfInt(f[0]))
	}
	for i, d := range step.Fold.Distinct {
		scope.names, scope.values = append(scope.names, d.Name), append(scope.values, value.OfInt(f[i+1]))
	}
	v, err := step.Fold.Program.Eval(scope, r.Meter)
	if err != nil {
		return 0, err
	}
	points, err := integer(step.Expression, v)
	if err == nil {
		known[f] = points
	}
	return points, err
}

func (r *stagedRun) membersOf(g *groups, group int32) []value.Value {
	out := make([]value.Value, 0, g.size[group])
	for at := range each(r.left) {
		if g.of[at] == group {
			out = append(out, member(r.table.sel.Names, r.table.winner(at)))
		}
	}
	return out
}
