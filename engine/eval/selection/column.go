package selection

import (
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
	cells   *cells
	// costs is what each row cost; nil when each cost fixed.
	costs []uint32
	fixed uint64
	// again makes the column of a newer table, with this one as the older; nil when it
	// is none of candidates by themselves.
	again func(*table, *legacy, expr.Scope) *column

	truths func() truths
	ids    func() *ids
	// numbered says that ids was asked for.
	numbered atomic.Bool
	// texts are the rows whose value is a text.
	texts func() set
}

func newColumn(p *cel.Program, of *cells, costs []uint32, fixed uint64) *column {
	c := &column{program: p, cells: of, costs: costs, fixed: fixed}
	c.truths = sync.OnceValue(of.tell)
	c.ids = sync.OnceValue(c.number)
	c.texts = sync.OnceValue(c.spell)
	return c
}

// column returns the column of an expression that is a property of candidates.
func (t *table) column(p *cel.Program, scope expr.Scope) *column {
	return t.columnOf(columnKey{source: p.Source()}, func() *column { return t.compute(p, nil, nil, scope) })
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

// compute makes the column of an expression, with what an older one knows; it is the
// older one if nothing in it has changed.
func (t *table) compute(p *cel.Program, old *column, l *legacy, scope expr.Scope) *column {
	f := t.start(p, old, l)
	f.vector(scope, func(b *direct.Batch, rows []int32) { b.Columns = f.naming.named(rows) })
	r := t.scope(scope)
	f.plainly(r, func(at int) { t.fill(r, at) })
	out := f.column(old, l)
	if out != old && analyze.Own(p, t.sel.Names) {
		out.again = func(t *table, l *legacy, scope expr.Scope) *column { return t.compute(p, out, l, scope) }
	}
	return out
}

func (c *column) spell() set {
	out := newSet(c.cells.rows)
	for at, v := range c.cells.vals {
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
