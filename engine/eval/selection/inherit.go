package selection

import "maps"

// legacy is what an older table leaves to a new one.
type legacy struct {
	old *table
	// from is the old row of every row, or -1.
	from []int32
	// inPlace says that the tables have as many rows, and that every old one stands
	// where it stood.
	inPlace bool
}

// inherit takes over the columns of the older table. Only the rows of items
// that it did not have are computed.
func (m *making) inherit() {
	l := m.legacy()
	l.old.mu.Lock()
	columns, templates, known, ranks := maps.Clone(l.old.columns), maps.Clone(l.old.templates), maps.Clone(l.old.pairs), l.old.ranks
	l.old.mu.Unlock()
	for key, c := range columns {
		if c.again != nil {
			m.table.columns[key] = c.again(m.table, l, m.outer)
		}
	}
	for tpl, c := range templates {
		m.table.templates[tpl] = m.table.build(tpl, c, l, m.outer)
	}
	m.inheritForms(columns, known, ranks)
}

// inheritForms takes over what was made of columns that are still the same ones.
func (m *making) inheritForms(columns map[columnKey]*column, known map[[2]*ids]*pairs, r *ranks) {
	same, kept := map[*ids]bool{}, map[*column]bool{}
	for key, c := range columns {
		if m.table.columns[key] == c {
			kept[c] = true
			if c.numbered.Load() {
				same[c.ids()] = true
			}
		}
	}
	for of, p := range known {
		if same[of[0]] && same[of[1]] {
			m.table.pairs[of] = p
		}
	}
	if r == nil {
		return
	}
	for _, c := range r.columns {
		if !kept[c] {
			return
		}
	}
	m.table.ranks = r
}

func (m *making) legacy() *legacy {
	l := &legacy{old: m.like, from: m.scratch.ids.take(m.table.rows), inPlace: m.table.rows == m.like.rows}
	for i := range m.table.items {
		item, known := &m.table.items[i], m.known(i)
		for n := range item.rows {
			at := int32(-1)
			if known != nil {
				at = known.first + n
				l.inPlace = l.inPlace && at == item.first+n
			}
			l.from[item.first+n] = at
		}
	}
	return l
}

// unknown returns the rows that are not in the older table, or of which something is not
// known there; without one, all.
func (l *legacy) unknown(rows int, s *scratch, known func(from int32) bool) []int32 {
	out := s.ids.take(rows)[:0]
	for at := range int32(rows) {
		if l == nil || l.from[at] < 0 || !known(l.from[at]) {
			out = append(out, at)
		}
	}
	return out
}
