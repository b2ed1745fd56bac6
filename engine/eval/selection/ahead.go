package selection

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// ahead computes what an expression about items of the first level comes to, for some of
// them at once.
type ahead struct {
	making  *making
	program *cel.Program
	batch   direct.Batch
	// weight is what each item costs.
	weight uint64
	vals   []value.Value
}

// ahead returns what computes an expression; nil where that has to be done item by item.
func (m *making) ahead(p *cel.Program) *ahead {
	weight, fixed := p.Weight()
	if m.like != nil || !fixed || len(m.table.items) <= fewRows || !analyze.Own(p, m.table.sel.Names[:1]) {
		return nil
	}
	return &ahead{making: m, program: p, weight: weight, batch: direct.Batch{Scope: m.outer, Memory: &m.scratch.columns, Meter: m.meter}}
}

// of computes some items, in the memory of those before. The result has nil for an item that
// has to be computed by itself, and that has not been charged; it is nil if all have to.
func (a *ahead) of(items []value.Value) []value.Value {
	a.end()
	a.batch.Rows, a.batch.Columns = len(items), map[string][]value.Value{a.making.table.sel.Names[0]: items}
	a.vals = a.program.Rows(&a.batch, a.making.meter)
	return a.vals
}

// end frees the memory of what was computed.
func (a *ahead) end() {
	if a.vals != nil {
		a.batch.Memory.Give(a.vals)
		a.vals = nil
	}
}

// keysAhead computes keys of the items, as far as that is possible at once, and returns what
// each costs an item. Keys that have to be computed by themselves are nil.
func (m *making) keysAhead() (costs []uint64) {
	orderBy := m.table.sel.Levels[0].OrderBy
	costs = make([]uint64, len(orderBy))
	for n, p := range orderBy {
		a := m.ahead(p)
		if a == nil {
			continue
		}
		costs[n] = a.weight
		for from := 0; from < len(m.table.items); from += piece {
			for i, v := range a.of(m.table.list.Items()[from:min(from+piece, len(m.table.items))]) {
				m.table.keysOf(from + i)[n] = v
			}
		}
		a.end()
	}
	return costs
}

// lists are the lists of the second level, computed for some items at once.
type lists struct {
	ahead *ahead
	items []value.Value
}

// listsAhead returns the lists of the second level; nil where there is none.
func (m *making) listsAhead() *lists {
	if len(m.table.sel.Levels) < 2 {
		return nil
	}
	a := m.ahead(m.table.sel.Levels[1].In)
	if a == nil {
		return nil
	}
	return &lists{ahead: a, items: m.scratch.values.take(min(piece, len(m.table.items)))}
}

// end frees the memory of the lists.
func (l *lists) end() {
	if l != nil {
		l.ahead.end()
	}
}

// at returns the list of the item at a place, and what it has cost; nil where it has to be
// computed by itself. Places are asked for one after the other.
func (l *lists) at(place int) (value.Value, uint64) {
	if l == nil {
		return nil, 0
	}
	m := l.ahead.making
	if place%piece == 0 {
		l.items = l.items[:0]
		for next := place; next < min(place+piece, len(m.table.items)); next++ {
			l.items = append(l.items, m.table.list.At(m.table.at(next)))
		}
		l.ahead.of(l.items)
	}
	if l.ahead.vals == nil {
		return nil, 0
	}
	return l.ahead.vals[place%piece], l.ahead.weight
}
