package selection

import (
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// making is a table that is being made, with what an older one knows.
type making struct {
	table *table
	// like is the older table, from the place of each item in its list, or -1; nil
	// without one.
	like   *table
	from   []int32
	outer  expr.Scope
	meter  *expr.Meter
	before uint64
	// scratch is where the items of the table are while it is made.
	scratch *scratch
	// scope is that of the row under way, and above, for each level, that of the levels
	// down to it.
	scope *row
	above []row
	// inner is the list of the second level for the item under way, if it is known already,
	// and innerCost what it has cost.
	inner     value.Value
	innerCost uint64
}

// known returns what the older table knows of an item.
func (m *making) known(i int) *tableItem {
	if m.from == nil || m.from[i] < 0 {
		return nil
	}
	return &m.like.items[m.from[i]]
}

// at returns which item stands at a place of the order.
func (t *table) at(place int) int {
	if t.order == nil {
		return place
	}
	return int(t.order[place])
}

// expand finds the rows of the items, in their order.
func (m *making) expand() error {
	m.scope = &row{Scope: m.outer, names: m.table.sel.Names, values: make([]value.Value, 0, len(m.table.sel.Names))}
	m.above = make([]row, len(m.table.sel.Levels))
	if m.like != nil {
		m.reserve(m.like.rows)
	}
	inner := m.listsAhead()
	defer inner.end()
	for place := range m.table.items {
		i := m.table.at(place)
		item := &m.table.items[i]
		item.first = int32(m.table.rows)
		m.inner, m.innerCost = inner.at(place)
		var err error
		if known := m.known(i); known != nil {
			err = m.copy(item, known)
		} else {
			err = m.find(item, m.table.list.At(i))
		}
		if err != nil {
			return err
		}
		if place == 0 && m.like == nil { // most items have as many rows as the first
			m.reserve(m.table.rows * len(m.table.items))
		}
	}
	return nil
}

// reserve makes room for rows.
func (m *making) reserve(rows int) {
	for level := range m.table.levels {
		m.table.levels[level] = slices.Grow(m.table.levels[level], max(0, min(rows, maxReserved)-len(m.table.levels[level])))
	}
}

// maxReserved bounds the room that is made before the rows are known.
const maxReserved = 1 << 16

// find finds the rows of an item.
func (m *making) find(item *tableItem, v value.Value) error {
	before, listed := m.meter.Spent(), m.table.listed
	err := m.level(v)
	item.rows, item.listed, item.cost = int32(m.table.rows)-item.first, int32(m.table.listed-listed), uint32(m.meter.Spent()-before)
	if m.inner != nil {
		item.cost += uint32(m.innerCost)
	}
	return err
}

// copy takes the rows of an item over.
func (m *making) copy(item, known *tableItem) error {
	last := len(m.table.sel.Levels) - 1
	if last > 0 {
		if err := crowded(&m.table.sel.Levels[last], m.table.rows, int(known.rows)); err != nil {
			return err
		}
	}
	for level, items := range m.like.levels {
		m.table.levels[level] = append(m.table.levels[level], items[known.first:known.first+known.rows]...)
	}
	m.table.rows += int(known.rows)
	m.table.listed += int(known.listed)
	item.rows, item.listed, item.cost = known.rows, known.listed, known.cost
	m.meter.Grow(int(known.listed))
	return m.meter.Spend(uint64(known.cost))
}

// level adds an item of a level, with the lists below it.
func (m *making) level(item value.Value) error {
	depth := len(m.scope.values)
	m.scope.values = append(m.scope.values, item)
	defer func() { m.scope.values = m.scope.values[:depth] }()
	if depth+1 == len(m.table.sel.Levels) {
		for level, v := range m.scope.values {
			m.table.levels[level] = append(m.table.levels[level], v)
		}
		m.table.rows++
		return nil
	}
	m.above[depth] = row{Scope: m.scope.Scope, names: m.table.sel.Names[:depth+1], values: m.scope.values}
	list, err := m.below(depth)
	if err == nil && depth+2 == len(m.table.sel.Levels) {
		err = crowded(&m.table.sel.Levels[depth+1], m.table.rows, len(list))
	}
	if err != nil {
		return err
	}
	m.table.listed += len(list)
	for _, next := range list {
		if err := m.level(next); err != nil {
			return err
		}
	}
	return nil
}

// below returns the items of the next level, in their order.
func (m *making) below(depth int) ([]value.Value, error) {
	l, scope := &m.table.sel.Levels[depth+1], &m.above[depth]
	if depth > 0 || m.inner == nil {
		return levelItems(l, scope, m.meter)
	}
	list, err := ListOf(l.In, "candidates need", m.inner, m.meter)
	if err != nil {
		return nil, err
	}
	return ordered(l, list.Items(), scope, m.meter)
}

// keepKeys returns the keys to keep: those of the older table, if they are the same.
func (m *making) keepKeys() []value.Value {
	if m.like != nil && m.like.keyed == m.table.keyed && slices.EqualFunc(m.like.keys, m.table.keys, value.Alike) {
		return m.like.keys
	}
	return slices.Clone(m.table.keys)
}

// keepItems returns the items to keep: those of the older table, if they are the same.
func (m *making) keepItems() []tableItem {
	if m.like != nil && slices.Equal(m.like.items, m.table.items) {
		return m.like.items
	}
	return slices.Clone(m.table.items)
}
