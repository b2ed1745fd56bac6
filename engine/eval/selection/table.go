package selection

import (
	"slices"
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
	// items are those of the list in order, starts where the rows of each begin,
	// and one number more: where the last one's end.
	items  []value.Value
	starts []int32
	rows   int
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
	pairs     map[[2]*ids]*pairs
}

// newTable finds the candidates of a list. What an older table knows of the
// items that both have is taken over.
func newTable(s *plan.Select, list *value.List, like *table, scope expr.Scope, meter *expr.Meter) (*table, error) {
	before := meter.Spent()
	if err := crowded(&s.Levels[0], 0, list.Len()); err != nil {
		return nil, err
	}
	items, err := ordered(&s.Levels[0], list.Items(), scope, meter)
	if err != nil {
		return nil, err
	}
	t := &table{
		sel: s, list: list, items: items, levels: make([][]value.Value, len(s.Levels)),
		columns: map[columnKey]*column{}, templates: map[*cel.Template]*requests{}, pairs: map[[2]*ids]*pairs{},
	}
	e := expansion{table: t, scope: &row{Scope: scope, names: s.Names, values: make([]value.Value, 0, len(s.Names))}, meter: meter}
	t.starts = make([]int32, 0, len(items)+1)
	for i, item := range items {
		t.starts = append(t.starts, int32(t.rows))
		if err := e.expand(item); err != nil {
			return nil, err
		}
		if i == 0 { // most items have as many rows as the first
			t.reserve(t.rows * len(items))
		}
	}
	t.starts = append(t.starts, int32(t.rows))
	t.cost = meter.Spent() - before
	if like != nil {
		t.inherit(like, scope)
	}
	return t, nil
}

// reserve makes room for rows.
func (t *table) reserve(rows int) {
	for level := range t.levels {
		t.levels[level] = slices.Grow(t.levels[level], max(0, min(rows, maxReserved)-len(t.levels[level])))
	}
}

// maxReserved bounds the room that is made before the rows are known.
const maxReserved = 1 << 16

// expansion fills a table row by row.
type expansion struct {
	*table
	scope *row
	meter *expr.Meter
}

func (e *expansion) expand(item value.Value) error {
	depth := len(e.scope.values)
	e.scope.values = append(e.scope.values, item)
	defer func() { e.scope.values = e.scope.values[:depth] }()
	if depth+1 == len(e.sel.Levels) {
		for level, v := range e.scope.values {
			e.levels[level] = append(e.levels[level], v)
		}
		e.rows++
		return nil
	}
	below := &row{Scope: e.scope.Scope, names: e.sel.Names[:depth+1], values: e.scope.values}
	list, err := levelItems(&e.sel.Levels[depth+1], below, e.meter)
	if err == nil && depth+2 == len(e.sel.Levels) {
		err = crowded(&e.sel.Levels[depth+1], e.rows, len(list))
	}
	if err != nil {
		return err
	}
	e.listed += len(list)
	for _, next := range list {
		if err := e.expand(next); err != nil {
			return err
		}
	}
	return nil
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

// inherit takes over the columns of an older table. Only the rows of items
// that it did not have are computed.
func (t *table) inherit(old *table, scope expr.Scope) {
	known := make(map[value.Value]int, len(old.items))
	for i, item := range old.items {
		if _, ok := item.(*value.Map); ok {
			known[item] = i
		}
	}
	from := make([]int32, t.rows) // the old row of every row, or -1
	for i, item := range t.items {
		at, ok := known[item]
		ok = ok && old.starts[at+1]-old.starts[at] == t.starts[i+1]-t.starts[i]
		for n := t.starts[i]; n < t.starts[i+1]; n++ {
			from[n] = -1
			if ok {
				from[n] = old.starts[at] + n - t.starts[i]
			}
		}
	}
	old.mu.Lock()
	columns, templates := old.columns, old.templates
	old.mu.Unlock()
	for key, c := range columns {
		if next := c.inherit(t, from, scope); next != nil && !key.member {
			t.columns[key] = next
		}
	}
	for tpl, c := range templates {
		t.templates[tpl] = c.inherit(t, tpl, from, scope)
	}
}
