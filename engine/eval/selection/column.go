package selection

import (
	"context"
	"sync"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// column is the result of an expression for every row of a table, and forms of
// it that steps can use at once. Rows on which the expression failed have no
// value: whoever needs one asks again, plainly.
type column struct {
	vals []value.Value
	// costs is what each row cost; nil when each cost fixed.
	costs []uint32
	fixed uint64

	truths func() truths
	ids    func() *ids
	// texts are the rows whose value is a text.
	texts func() set
}

// truths are the rows on which a column is true and false.
type truths struct{ yes, no set }

func newColumn(vals []value.Value, costs []uint32, fixed uint64) *column {
	c := &column{vals: vals, costs: costs, fixed: fixed}
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
	return t.columnOf(p, func() *column { return t.compute(p, nil, nil, t.scope(scope)) })
}

func (t *table) columnOf(p *cel.Program, compute func() *column) *column {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.columns[p]
	if !ok {
		c = compute()
		t.columns[p] = c
	}
	return c
}

// memberColumn returns the column of an expression about candidates as members
// of a group.
func (t *table) memberColumn(d *analyze.FoldDistinct, scope expr.Scope) *column {
	return t.columnOf(d.Of, func() *column {
		r := &row{Scope: scope, names: []string{d.Variable}, values: make([]value.Value, 1)}
		inner, names := t.scope(nil), value.NamesOf(t.sel.Names...)
		return t.computeRows(d.Of, nil, nil, r, func(at int) {
			t.fill(inner, at)
			r.values[0] = names.Map(inner.values...)
		})
	})
}

// inherit makes the column of a new table of one of an older one; nil when it
// is none of candidates by themselves.
func (c *column) inherit(t *table, p *cel.Program, from []int32, scope expr.Scope) *column {
	if !analyze.Own(p, t.sel.Names) {
		return nil
	}
	return t.compute(p, c, from, t.scope(scope))
}

func (t *table) compute(p *cel.Program, old *column, from []int32, r *row) *column {
	return t.computeRows(p, old, from, r, func(at int) { t.fill(r, at) })
}

// computeRows evaluates for every row that an older column does not have. The
// budget is the rows' own: what a selection is charged is for the steps to say.
func (t *table) computeRows(p *cel.Program, old *column, from []int32, r *row, fill func(int)) *column {
	meter := columnMeter()
	defer meter.Close()
	vals := make([]value.Value, t.rows)
	fixed, isFixed := p.Weight()
	var costs []uint32
	if !isFixed {
		costs = make([]uint32, t.rows)
	}
	for at := range vals {
		if old != nil && from[at] >= 0 && old.vals[from[at]] != nil {
			vals[at] = old.vals[from[at]]
			if costs != nil {
				costs[at] = old.costs[from[at]]
			}
			continue
		}
		fill(at)
		meter.Grow(expr.RunCost / expr.ItemCost)
		before := meter.Spent()
		if v, err := p.Eval(r, meter); err == nil {
			vals[at] = v
		}
		if costs != nil {
			costs[at] = uint32(meter.Spent() - before)
		}
	}
	return newColumn(vals, costs, fixed)
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

// requests are what is sent of every candidate to a builtin.
type requests struct {
	vals  []*value.Map
	costs []uint32
}

// requests returns the requests of a template that is a property of candidates.
func (t *table) requests(tpl *cel.Template, scope expr.Scope) *requests {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.templates[tpl]
	if !ok {
		c = t.build(tpl, nil, nil, scope)
		t.templates[tpl] = c
	}
	return c
}

func (c *requests) inherit(t *table, tpl *cel.Template, from []int32, scope expr.Scope) *requests {
	return t.build(tpl, c, from, scope)
}

func (t *table) build(tpl *cel.Template, old *requests, from []int32, scope expr.Scope) *requests {
	meter := columnMeter()
	defer meter.Close()
	r := t.scope(scope)
	out := &requests{vals: make([]*value.Map, t.rows), costs: make([]uint32, t.rows)}
	for at := range out.vals {
		if old != nil && from[at] >= 0 && old.vals[from[at]] != nil {
			out.vals[at], out.costs[at] = old.vals[from[at]], old.costs[from[at]]
			continue
		}
		t.fill(r, at)
		meter.Grow(expr.RunCost / expr.ItemCost)
		before := meter.Spent()
		if m, err := fields(tpl, r, meter); err == nil {
			out.vals[at] = m
		}
		out.costs[at] = uint32(meter.Spent() - before)
	}
	return out
}
