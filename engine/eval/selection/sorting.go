package selection

import (
	"slices"

	"github.com/edict-dev/edict/engine/value"
)

// sort puts the items in the order of the level.
func (m *making) sort() error {
	orderBy := m.table.sel.Levels[0].OrderBy
	if len(orderBy) == 0 || len(m.table.items) < 2 {
		return nil
	}
	m.table.keyed, m.table.keys = true, m.scratch.values.take(len(orderBy)*len(m.table.items))
	costs := m.keysAhead()
	inner := &row{Scope: m.outer, names: m.table.sel.Names[:1], values: make([]value.Value, 1)}
	for i := range m.table.items {
		item := &m.table.items[i]
		if known := m.known(i); known != nil && m.like.keyed {
			copy(m.table.keysOf(i), m.like.keysOf(int(m.from[i])))
			item.keyCost = known.keyCost
			if err := m.meter.Spend(uint64(known.keyCost)); err != nil {
				return err
			}
			continue
		}
		inner.values[0] = m.table.list.At(i)
		cost, err := m.otherKeys(i, costs, inner)
		if err != nil {
			return err
		}
		item.keyCost = uint32(cost)
	}
	m.place()
	return nil
}

// otherKeys computes the keys of an item that are not known yet, and returns what all of
// them have cost.
func (m *making) otherKeys(i int, costs []uint64, scope *row) (cost uint64, err error) {
	keys := m.table.keysOf(i)
	for n, p := range m.table.sel.Levels[0].OrderBy {
		if keys[n] != nil {
			cost += costs[n]
			continue
		}
		before := m.meter.Spent()
		if keys[n], err = p.Eval(scope, m.meter); err != nil {
			return 0, err
		}
		cost += m.meter.Spent() - before
	}
	return cost, nil
}

// place finds the order of the items by their keys.
func (m *making) place() {
	if m.samePlaces() {
		m.table.order = m.like.order
		return
	}
	order := make([]int32, len(m.table.items))
	for i := range order {
		order[i] = int32(i)
	}
	compare := func(a, b int32) int { return value.CompareAll(m.table.keysOf(int(a)), m.table.keysOf(int(b))) }
	if !slices.IsSortedFunc(order, compare) {
		slices.SortStableFunc(order, compare)
		m.table.order = order
	}
}

// samePlaces reports whether each item has the keys of the one at the same place in the
// older table.
func (m *making) samePlaces() bool {
	if m.like == nil || !m.like.keyed || len(m.like.items) != len(m.table.items) {
		return false
	}
	for i := range m.table.items {
		if m.from[i] != int32(i) && !slices.EqualFunc(m.like.keysOf(i), m.table.keysOf(i), value.Alike) {
			return false
		}
	}
	return true
}
