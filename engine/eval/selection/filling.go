package selection

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// naming names the items of some levels, those of the first ones, for some rows.
type naming struct {
	table  *table
	levels int
	// memory is for items that do not stand together, in scratch.
	memory  [][]value.Value
	scratch *scratch
}

// named returns the items of the levels for some rows by the names of the levels, until
// it is asked again. The rows are in order.
func (n *naming) named(rows []int32) map[string][]value.Value {
	out := n.scratch.names()
	first, last := rows[0], rows[len(rows)-1]+1
	for level, items := range n.table.levels[:n.levels] {
		if int(last-first) == len(rows) {
			out[n.table.sel.Names[level]] = items[first:last]
			continue
		}
		some := n.room(level, len(rows))
		for i, at := range rows {
			some[i] = items[at]
		}
		out[n.table.sel.Names[level]] = some
	}
	return out
}

// room returns memory for some items of a level.
func (n *naming) room(level, rows int) []value.Value {
	if n.memory == nil {
		n.memory = make([][]value.Value, n.levels)
	}
	if len(n.memory[level]) < rows {
		n.memory[level] = n.scratch.values.take(rows)
	}
	return n.memory[level][:rows]
}

// piece is how many rows are computed at once: what is computed on the way stays near.
const piece = 256

// filling is a column that is computed.
type filling struct {
	program *cel.Program
	naming  naming
	// todo are the rows that have to be computed, vals what they come to. If vals are lent
	// they belong to scratch.
	todo []int32
	vals []value.Value
	lent bool
	// all are the rows of which the column is wanted: those of one item of the first level
	// come to the same where the expression names no other, and only the first of them is
	// computed. It is nil where all are computed, or have what the first has come to.
	all []int32
	// costs is what each of these cost; nil when each cost fixed.
	costs   []uint32
	fixed   uint64
	meter   *expr.Meter
	scratch *scratch
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
	s := scratches.Get().(*scratch)
	f := &s.filling
	*f = filling{program: p, meter: columnMeter(), scratch: s}
	f.todo = l.unknown(t.rows, f.scratch, func(from int32) bool { return old.cells.at(int(from)) != nil })
	f.naming = naming{table: t, levels: len(t.levels), scratch: f.scratch}
	if len(t.levels) > 1 && analyze.Own(p, t.sel.Names[:1]) {
		f.naming.levels, f.all, f.todo = 1, f.todo, firsts(t.levels[0], f.todo, f.scratch)
	}
	var isFixed bool
	if f.fixed, isFixed = p.Weight(); !isFixed {
		f.costs = make([]uint32, len(f.todo))
	}
	f.meter.Grow(len(f.todo) * (expr.RunCost / expr.ItemCost))
	return f
}

// fewRows is up to how many rows are not worth a batch.
const fewRows = 4

// vector computes rows at once, where that is possible; set sets a batch to some rows.
func (f *filling) vector(scope expr.Scope, set func(b *direct.Batch, rows []int32)) {
	if len(f.todo) <= fewRows {
		return
	}
	b := &direct.Batch{Scope: scope, Memory: &f.scratch.columns}
	var out []value.Value
	for rows := range slices.Chunk(f.todo, piece) {
		b.Rows = len(rows)
		set(b, rows)
		vals := f.program.Rows(b, f.meter)
		if vals == nil {
			return // plainly computes the others
		}
		if out == nil {
			out = f.room(vals)
		}
		out = out[copy(out, vals):]
		b.Memory.Give(vals)
	}
}

// room makes room for the values of the rows, of which some are known. It is only lent
// where values are not kept: those of items, which their rows get, and truths. That the
// others are truths, too, is likely.
func (f *filling) room(some []value.Value) []value.Value {
	if f.lent = f.all != nil || truthful(some); f.lent {
		f.vals = f.scratch.values.take(len(f.todo))
	} else {
		f.vals = make([]value.Value, len(f.todo))
	}
	return f.vals
}

// own returns the values of all rows, for as long as they are needed.
func (f *filling) own() []value.Value {
	if f.lent && !truthful(f.vals) {
		return slices.Clone(f.vals)
	}
	return f.vals
}

// plainly computes the rows that are left one by one.
func (f *filling) plainly(scope expr.Scope, fill func(int)) {
	defer f.meter.Close()
	if f.vals == nil {
		f.room(nil)
	}
	for i, at := range f.todo {
		if f.vals[i] != nil {
			continue
		}
		fill(int(at))
		before := f.meter.Spent()
		v, err := f.program.Eval(scope, f.meter)
		cost := f.meter.Spent() - before
		if err == nil && (f.costs != nil || cost == f.fixed) { // with large texts, it costs more: that row is asked again
			f.vals[i] = v
		}
		if f.costs != nil {
			f.costs[i] = uint32(cost)
		}
	}
}

// column returns the column with what an older one knows.
func (f *filling) column(old *column, l *legacy) *column {
	defer f.scratch.release()
	f.spread()
	if old == nil {
		return newColumn(f.program, cellsOf(f.own()), f.costs, f.fixed)
	}
	if l.inPlace && f.unchanged(old) {
		return old
	}
	costs := f.costs
	if costs != nil {
		costs = merged(old.costs, f.costs, f.todo, l)
	}
	return newColumn(f.program, old.cells.with(f.vals, f.todo, l), costs, f.fixed)
}

// unchanged reports whether an older column has the same in the rows that were
// computed, which stand where they stood.
func (f *filling) unchanged(old *column) bool {
	for i, at := range f.todo {
		if !value.Alike(f.vals[i], old.cells.at(int(at))) || f.costs != nil && f.costs[i] != old.costs[at] {
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
