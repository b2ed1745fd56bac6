package selection

import (
	"sync"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// table is the candidates of one list, one row each, and what is known of
// them. It is shared by the keys that select from the list.
type table struct {
	sel  *plan.Select
	list *value.List
	// items are those of the list, in its order; order are their places in the order of
	// the level, nil being the same.
	items []tableItem
	order []int32
	// keys are what the items are sorted by, of one item after the other; keyed says that
	// they were asked for.
	keys  []value.Value
	keyed bool
	rows  int
	// levels holds the item of every level for every row.
	levels [][]value.Value
	// cost is what it cost to find the candidates, listed how many items there
	// were in all lists.
	cost   uint64
	listed int

	mu        sync.Mutex
	columns   map[columnKey]*column
	templates map[*cel.Template]*requests
	ranks     *ranks
	// compared is how many rows were compared without ranks.
	compared int
	pairs    map[[2]*ids]*pairs
}

// tableItem is what it took to find the rows of an item.
type tableItem struct {
	// keyCost is what it cost to find the item's keys.
	keyCost uint32
	// first is the item's first row, rows how many it has. Finding them cost so much,
	// in lists of so many items.
	first, rows, listed int32
	cost                uint32
}

// newTable finds the candidates of a list. What an older table knows of the
// items that both have is taken over.
func newTable(s *plan.Select, list *value.List, like *table, scope expr.Scope, meter *expr.Meter) (*table, error) {
	if err := crowded(&s.Levels[0], 0, list.Len()); err != nil {
		return nil, err
	}
	t := &table{
		sel: s, list: list, levels: make([][]value.Value, len(s.Levels)),
		columns: map[columnKey]*column{}, templates: map[*cel.Template]*requests{}, pairs: map[[2]*ids]*pairs{},
	}
	m := &making{table: t, like: like, outer: scope, meter: meter, before: meter.Spent(), scratch: scratches.Get().(*scratch)}
	defer m.scratch.release()
	m.table.items = m.scratch.items.take(list.Len())
	if like != nil {
		m.from = value.Align(like.list.Items(), list.Items())
	}
	if err := m.sort(); err != nil {
		return nil, err
	}
	if err := m.expand(); err != nil {
		return nil, err
	}
	t.cost = meter.Spent() - m.before
	if like != nil {
		m.inherit()
	}
	t.items, t.keys = m.keepItems(), m.keepKeys()
	return t, nil
}

// keysOf returns what an item is sorted by.
func (t *table) keysOf(i int) []value.Value {
	n := len(t.sel.Levels[0].OrderBy)
	return t.keys[i*n : (i+1)*n]
}

// fill sets a scope to a row.
func (t *table) fill(r *row, at int) {
	for level := range t.levels {
		r.values[level] = t.levels[level][at]
	}
}

// scope returns a scope for rows of the table; fill says for which.
func (t *table) scope(outer expr.Scope) *row {
	return &row{Scope: outer, names: t.sel.Names, values: make([]value.Value, len(t.levels))}
}

// winner returns the items of a row.
func (t *table) winner(at int) []value.Value {
	r := t.scope(nil)
	t.fill(r, at)
	return r.values
}
