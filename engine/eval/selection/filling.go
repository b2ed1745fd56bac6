package selection

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// named returns the items of every level for some rows, nil being all, by the names
// of the levels.
func (t *table) named(rows []int32) map[string][]value.Value {
	out := make(map[string][]value.Value, len(t.levels))
	for level, items := range t.levels {
		if rows != nil && len(rows) < t.rows {
			some := make([]value.Value, len(rows))
			for i, at := range rows {
				some[i] = items[at]
			}
			items = some
		}
		out[t.sel.Names[level]] = items
	}
	return out
}

// filling is a column that is computed.
type filling struct {
	program *cel.Program
	// todo are the rows that have to be computed, vals what they come to.
	todo []int32
	vals []value.Value
	// costs is what each of these cost; nil when each cost fixed.
	costs []uint32
	fixed uint64
	meter *expr.Meter
}

// columnBytes is what the texts and lists of a column may have. Rows beyond that
// have no value.
const columnBytes = 8 << 20

func columnMeter() *expr.Meter {
	limits := expr.EvaluationLimits()
	limits.Bytes = columnBytes
	return expr.NewMeterWith(context.Background(), limits)
}

// start finds the rows of a column that an older one does not know. The budget is the
// rows' own: what a selection is charged is for the steps to say.
func (t *table) start(p *cel.Program, old *column, l *legacy) *filling {
	f := &filling{program: p, meter: columnMeter(), todo: l.fresh(t.rows, func(from int32) bool { return old.vals[from] != nil })}
	var isFixed bool
	if f.fixed, isFixed = p.Weight(); !isFixed {
		f.costs = make([]uint32, len(f.todo))
	}
	f.meter.Grow(len(f.todo) * (expr.RunCost / expr.ItemCost))
	return f
}

// fewRows is up to how many rows are not worth a batch.
const fewRows = 4

// vector computes rows at once, where that is possible.
func (f *filling) vector(b *direct.Batch) {
	if len(f.todo) > fewRows {
		f.vals = f.program.Rows(b, f.meter)
	}
}

// plainly computes the rows that are left one by one.
func (f *filling) plainly(scope expr.Scope, fill func(int)) {
	defer f.meter.Close()
	if f.vals == nil {
		f.vals = make([]value.Value, len(f.todo))
	}
	for i, at := range f.todo {
		if f.vals[i] != nil {
			continue
		}
		fill(int(at))
		before := f.meter.Spent()
		if v, err := f.program.Eval(scope, f.meter); err == nil {
			f.vals[i] = v
		}
		if f.costs != nil {
			f.costs[i] = uint32(f.meter.Spent() - before)
		}
	}
}

// column returns the column with what an older one knows.
func (f *filling) column(old *column, l *legacy) *column {
	if old == nil {
		return newColumn(f.program, f.vals, f.costs, f.fixed)
	}
	if l.inPlace && f.unchanged(old) {
		return old
	}
	vals, costs := merged(old.vals, f.vals, f.todo, l), f.costs
	if costs != nil {
		costs = merged(old.costs, f.costs, f.todo, l)
	}
	return newColumn(f.program, vals, costs, f.fixed)
}

// unchanged reports whether an older column has the same in the rows that were
// computed, which stand where they stood.
func (f *filling) unchanged(old *column) bool {
	for i, at := range f.todo {
		if !value.Alike(f.vals[i], old.vals[at]) || f.costs != nil && f.costs[i] != old.costs[at] {
			return false
		}
	}
	return true
}

// merged returns the rows of a new table: some that were computed, the others from an
// older one.
func merged[T any](old, fresh []T, todo []int32, l *legacy) []T {
	var out []T
	if l.inPlace {
		out = slices.Clone(old)
	} else {
		out = make([]T, len(l.from))
		for at, from := range l.from {
			if from >= 0 {
				out[at] = old[from]
			}
		}
	}
	for i, at := range todo {
		out[at] = fresh[i]
	}
	return out
}
