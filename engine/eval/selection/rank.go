package selection

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// ranks is the place of every row in the order of the candidates.
type ranks struct {
	of      []int32
	known   set
	columns []*column
}

// ranked returns the ranks of the rows; nil when their order depends on more
// than the candidates.
func (t *table) ranked(scope expr.Scope) *ranks {
	t.mu.Lock()
	r := t.ranks
	t.mu.Unlock()
	if r != nil {
		return r
	}
	for _, p := range t.sel.OrderBy {
		if !analyze.Own(p, t.sel.Names) {
			return nil
		}
	}
	r = t.rank(scope)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ranks = r
	return r
}

// worthRanking reports whether to rank all rows to find the first of some. As long as fewer
// rows have been compared one by one than there are, that was less work: most tables of a
// world that has just changed are asked once or twice.
func (t *table) worthRanking(rows int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.compared += rows
	return t.ranks != nil || t.compared > t.rows
}

func (t *table) rank(scope expr.Scope) *ranks {
	r := &ranks{of: make([]int32, t.rows), known: all(t.rows)}
	var keys [][]value.Value
	for _, p := range t.sel.OrderBy {
		c := t.column(p, scope)
		r.columns, keys = append(r.columns, c), append(keys, c.cells.values())
	}
	s := scratches.Get().(*scratch)
	defer s.release()
	rows := s.ids.take(t.rows)
	for at := range rows {
		rows[at] = int32(at)
		for _, vals := range keys {
			if vals[at] == nil {
				r.known.drop(at)
			}
		}
	}
	compare := func(a, b int32) int { return compareRows(keys, a, b) }
	if !slices.IsSortedFunc(rows, compare) {
		slices.SortStableFunc(rows, compare)
	}
	for place, at := range rows {
		r.of[at] = int32(place)
	}
	return r
}

// compareRows compares two rows by their keys.
func compareRows(keys [][]value.Value, a, b int32) int {
	for _, vals := range keys {
		if d := value.CompareAll(vals[a:a+1], vals[b:b+1]); d != 0 {
			return d
		}
	}
	return 0
}

// all reports whether the place of all rows of a set is known.
func (r *ranks) all(rows set) bool { return rows.within(r.known) }

func (r *ranks) first(rows set) int {
	best := rows.first()
	for at := range each(rows) {
		if r.of[at] < r.of[best] {
			best = at
		}
	}
	return best
}

func (r *ranks) charge(rows set) (cost uint64) {
	for _, c := range r.columns {
		cost += c.charge(rows)
	}
	return cost
}
