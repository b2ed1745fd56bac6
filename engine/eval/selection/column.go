package selection

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// column is the result of an expression for every row of a table, and forms of
// it that steps can use at once. Rows on which the expression failed have no
// value: whoever needs one asks again, plainly.
type column struct {
	program *cel.Program
	vals    []value.Value
	// costs is what each row cost; nil when each cost fixed.
	costs []uint32
	fixed uint64
	// own says that it is a property of the candidates.
	own bool

	truths func() truths
	ids    func() *ids
	// numbered says that ids was asked for.
	numbered atomic.Bool
	// texts are the rows whose value is a text.
	texts func() set
}

// truths are the rows on which a column is true and false.
type truths struct{ yes, no set }

func newColumn(p *cel.Program, vals []value.Value, costs []uint32, fixed uint64) *column {
	c := &column{program: p, vals: vals, costs: costs, fixed: fixed}
	c.truths = sync.OnceValue(c.tell)
	c.ids = sync.OnceValue(c.number)
	c.texts = sync.OnceValue(c.spell)
	return c
}

// columnBytes is what the texts and lists of a column may have. Rows beyond that
// have no value.
const columnBytes = 8 << 20

func columnMeter() *expr.Meter {
	limits := expr.EvaluationLimits()
	limits.Bytes = columnBytes
	return expr.NewMeterWith(context.Background(), limits)
}

// column returns the column of an expression that is a property of candidates.
func (t *table) column(p *cel.Program, scope expr.Scope) *column {
	return t.columnOf(columnKey{source: p.Source()}, func() *column { return t.compute(p, nil, nil, t.scope(scope)) })
}

// columnKey names a column. What is written alike is one column, wherever it stands.
type columnKey struct {
	source string
	// member is set for an expression about candidates as members of a group.
	member bool
}

func (t *table) columnOf(key columnKey, compute func() *column) *column {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.columns[key]
	if !ok {
		c = compute()
		t.columns[key] = c
	}
	return c
}

// memberColumn returns the column of an expression about candidates as members
// of a group.
func (t *table) memberColumn(d *analyze.FoldDistinct, scope expr.Scope) *column {
	return t.columnOf(columnKey{source: d.Of.Source(), member: true}, func() *column {
		r := &row{Scope: scope, names: []string{d.Variable}, values: make([]value.Value, 1)}
		inner, names := t.scope(nil), value.NamesOf(t.sel.Names...)
		c := t.start(d.Of, nil, nil)
		c.vector(d.Of, &direct.Batch{Rows: t.rows, Members: map[string]map[string][]value.Value{d.Variable: t.named(nil)}, Scope: scope})
		return c.plainly(d.Of, r, func(at int) {
			t.fill(inner, at)
			r.values[0] = names.Map(inner.values...)
		})
	})
}

// compute makes the column of an expression, with what an older one knows; it is the
// older one if nothing in it has changed.
func (t *table) compute(p *cel.Program, old *column, l *legacy, r *row) *column {
	c := t.start(p, old, l)
	fresh := slices.Clone(c.todo)
	if len(c.todo) > fewRows {
		c.vector(p, &direct.Batch{Rows: len(c.todo), Columns: t.named(c.todo), Scope: r.Scope})
	}
	out := c.plainly(p, r, func(at int) { t.fill(r, at) })
	out.own = analyze.Own(p, t.sel.Names)
	if out.unchanged(old, l, fresh) {
		return old
	}
	return out
}

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
	rows  int
	vals  []value.Value
	costs []uint32
	fixed uint64
	// todo are the rows that have still to be computed.
	todo  []int32
	meter *expr.Meter
}

// start makes a column with what an older one knows. The budget is the rows' own:
// what a selection is charged is for the steps to say.
func (t *table) start(p *cel.Program, old *column, l *legacy) *filling {
	c := &filling{rows: t.rows, meter: columnMeter()}
	var isFixed bool
	if c.fixed, isFixed = p.Weight(); !isFixed {
		c.costs = make([]uint32, t.rows)
	}
	c.inherit(old, l)
	c.meter.Grow(len(c.todo) * (expr.RunCost / expr.ItemCost))
	return c
}

// inherit takes over the rows that an older column knows.
func (c *filling) inherit(old *column, l *legacy) {
	switch {
	case old == nil:
		c.todo = make([]int32, c.rows)
		for at := range c.todo {
			c.todo[at] = int32(at)
		}
		return
	case l.inPlace:
		c.vals = slices.Clone(old.vals)
		copy(c.costs, old.costs)
	default:
		c.vals = make([]value.Value, c.rows)
	}
	for at, from := range l.from {
		switch {
		case from < 0 || old.vals[from] == nil:
			c.vals[at] = nil
			c.todo = append(c.todo, int32(at))
		case !l.inPlace:
			c.vals[at] = old.vals[from]
			if c.costs != nil {
				c.costs[at] = old.costs[from]
			}
		}
	}
}

// fewRows is up to how many rows are not worth a batch.
const fewRows = 4

// vector computes rows at once, where that is possible.
func (c *filling) vector(p *cel.Program, b *direct.Batch) {
	vals := p.Rows(b, c.meter)
	if vals == nil {
		return
	}
	left := c.todo[:0]
	if c.vals == nil {
		c.vals = vals
	}
	for i, at := range c.todo {
		if c.vals[at] = vals[i]; vals[i] == nil {
			left = append(left, at)
		}
	}
	c.todo = left
}

// plainly computes the rows that are left one by one.
func (c *filling) plainly(p *cel.Program, scope expr.Scope, fill func(int)) *column {
	defer c.meter.Close()
	if c.vals == nil {
		c.vals = make([]value.Value, c.rows)
	}
	for _, at := range c.todo {
		fill(int(at))
		before := c.meter.Spent()
		if v, err := p.Eval(scope, c.meter); err == nil {
			c.vals[at] = v
		}
		if c.costs != nil {
			c.costs[at] = uint32(c.meter.Spent() - before)
		}
	}
	return newColumn(p, c.vals, c.costs, c.fixed)
}

func (c *column) tell() truths {
	out := truths{yes: newSet(len(c.vals)), no: newSet(len(c.vals))}
	for at, v := range c.vals {
		if v == nil {
			continue
		}
		if b, ok := v.Value().(bool); ok && b {
			out.yes.put(at)
		} else if ok {
			out.no.put(at)
		}
	}
	return out
}

func (c *column) spell() set {
	out := newSet(len(c.vals))
	for at, v := range c.vals {
		if _, ok := value.Str(v); ok {
			out.put(at)
		}
	}
	return out
}

// charge returns what the expression costs on some rows.
func (c *column) charge(rows set) (cost uint64) {
	if c.costs == nil {
		return c.fixed * uint64(rows.len())
	}
	for at := range each(rows) {
		cost += uint64(c.costs[at])
	}
	return cost
}
