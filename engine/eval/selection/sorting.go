package selection

import (
	"slices"

	"github.com/edict-dev/edict/engine/value"
)

// missing returns how many items there are from one on, if none is known.
func (m *making) missing(i int) int {
	if m.like != nil {
		return 1
	}
	return len(m.items) - i
}

// sort puts the items in the order of the level.
func (m *making) sort() error {
	orderBy := m.sel.Levels[0].OrderBy
	if len(orderBy) == 0 || len(m.items) < 2 {
		return nil
	}
	inner := &row{Scope: m.outer, names: m.sel.Names[:1], values: make([]value.Value, 1)}
	var keys []value.Value
	for i := range m.items {
		item := &m.items[i]
		item.keyed = true
		if known := m.known(i); known != nil && known.keyed {
			item.keys, item.keyCost = known.keys, known.keyCost
			if err := m.meter.Spend(uint64(known.keyCost)); err != nil {
				return err
			}
			continue
		}
		if len(keys) < len(orderBy) {
			keys = make([]value.Value, len(orderBy)*m.missing(i))
		}
		before := m.meter.Spent()
		inner.values[0], item.keys, keys = m.list.At(i), keys[:len(orderBy):len(orderBy)], keys[len(orderBy):]
		if err := orderKeys(item.keys, orderBy, inner, m.meter); err != nil {
			return err
		}
		item.keyCost = uint32(m.meter.Spent() - before)
	}
	m.place()
	return nil
}

// place finds the order of the items by their keys.
func (m *making) place() {
	if m.samePlaces() {
		m.order = m.like.order
		return
	}
	order := make([]int32, len(m.items))
	for i := range order {
		order[i] = int32(i)
	}
	compare := func(a, b int32) int { return value.CompareAll(m.items[a].keys, m.items[b].keys) }
	if !slices.IsSortedFunc(order, compare) {
		slices.SortStableFunc(order, compare)
		m.order = order
	}
}

// samePlaces reports whether each item has the keys of the one at the same place in the
// older table.
func (m *making) samePlaces() bool {
	if m.like == nil || len(m.like.items) != len(m.items) {
		return false
	}
	for i := range m.items {
		was := &m.like.items[i]
		if same := m.from[i] == int32(i) || was.keyed && slices.EqualFunc(was.keys, m.items[i].keys, value.Alike); !same {
			return false
		}
	}
	return true
}
