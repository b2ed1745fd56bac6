package selection

import (
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// requests are what is sent of every candidate to a builtin.
type requests struct {
	drafts drafts
	rows   *value.Rows
	// known are the rows that have one.
	known set
}

// of returns the requests of some known rows, what they cost to make and how many
// nodes they have.
func (c *requests) of(rows set, count int) (out expr.Candidates, cost uint64, weight int) {
	out.Of = c.rows
	if count < c.rows.Len() {
		out.Some = make([]int32, 0, count)
	}
	for at := range each(rows) {
		cost += uint64(c.drafts.costs[at])
		weight += int(c.drafts.weights[at])
		if out.Some != nil {
			out.Some = append(out.Some, int32(at))
		}
	}
	return out, cost, weight
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

// build makes the requests of a template, with what an older table knows; they are the
// older ones if nothing in them has changed.
func (t *table) build(tpl *cel.Template, old *requests, l *legacy, scope expr.Scope) *requests {
	s := scratches.Get().(*scratch)
	defer s.release()
	todo := l.unknown(t.rows, s, func(from int32) bool { return old.known.has(int(from)) })
	d := newDrafts(tpl, len(todo))
	d.make(t, tpl, todo, scope, s)
	if old != nil {
		if l.inPlace && old.drafts.has(todo, d) {
			return old
		}
		d.merge(&old.drafts, todo, l)
	}
	out := &requests{drafts: *d, rows: d.rows(), known: newSet(t.rows)}
	for at, w := range d.weights {
		if w > 0 {
			out.known.put(at)
		}
	}
	return out
}

// drafts are requests of some rows.
type drafts struct {
	// columns are the fields by their names; without names there is one, of the requests
	// as maps.
	names   []string
	columns [][]value.Value
	// costs is what making each costs, weights is its Weight; 0 is that it is not known.
	costs, weights []uint32
}

func newDrafts(tpl *cel.Template, rows int) *drafts {
	d := &drafts{names: tpl.Mapping().FieldNames(), costs: make([]uint32, rows), weights: make([]uint32, rows)}
	d.columns = make([][]value.Value, max(1, len(d.names)))
	for f := range d.columns {
		d.columns[f] = make([]value.Value, rows)
	}
	return d
}

// make makes the requests of some rows; at once, where that is possible.
func (d *drafts) make(t *table, tpl *cel.Template, rows []int32, scope expr.Scope, s *scratch) {
	meter := columnMeter()
	defer meter.Close()
	meter.Grow(len(rows) * (expr.RunCost / expr.ItemCost))
	d.atOnce(t, tpl, rows, &direct.Batch{Scope: scope, Memory: &s.columns}, meter, s)
	r := t.scope(scope)
	for i, at := range rows {
		if d.weights[i] > 0 {
			continue
		}
		t.fill(r, int(at))
		before := meter.Spent()
		if m, err := fields(tpl, r, meter); err == nil {
			d.put(i, m)
		}
		d.costs[i] = uint32(meter.Spent() - before)
	}
}

// atOnce makes the requests of rows at once, where that is possible.
func (d *drafts) atOnce(t *table, tpl *cel.Template, rows []int32, b *direct.Batch, meter *expr.Meter, s *scratch) {
	if len(rows) <= fewRows || d.names == nil {
		return
	}
	n := naming{table: t, levels: len(t.levels), scratch: s}
	into := make([][]value.Value, len(d.columns))
	for from := 0; from < len(rows); from += piece {
		some := rows[from:min(from+piece, len(rows))]
		b.Rows, b.Columns = len(some), n.named(some)
		for f := range into {
			into[f] = d.columns[f][from:]
		}
		cost, ok := tpl.Mapping().Columns(b, meter, into, d.weights[from:])
		if !ok {
			clear(d.weights[from:])
			return
		}
		for i := range some {
			d.costs[from+i] = uint32(cost)
		}
	}
}

// put sets the request of a row.
func (d *drafts) put(row int, m *value.Map) {
	d.weights[row] = uint32(value.Weight(m))
	if d.names == nil {
		d.columns[0][row] = m
		return
	}
	for f, name := range d.names {
		d.columns[f][row] = m.Lookup(name)
	}
}

// has reports whether some rows are the same as others.
func (d *drafts) has(rows []int32, others *drafts) bool {
	for i, at := range rows {
		if d.costs[at] != others.costs[i] || d.weights[at] != others.weights[i] {
			return false
		}
		for f, column := range d.columns {
			if !value.Alike(column[at], others.columns[f][i]) {
				return false
			}
		}
	}
	return true
}

// merge adds the rows of older ones.
func (d *drafts) merge(old *drafts, todo []int32, l *legacy) {
	for f := range d.columns {
		d.columns[f] = merged(old.columns[f], d.columns[f], todo, l)
	}
	d.costs, d.weights = merged(old.costs, d.costs, todo, l), merged(old.weights, d.weights, todo, l)
}

// rows returns the requests.
func (d *drafts) rows() *value.Rows {
	if d.names != nil {
		return value.NewRows(d.names, d.columns)
	}
	maps := make([]*value.Map, len(d.columns[0]))
	for i, v := range d.columns[0] {
		maps[i], _ = v.(*value.Map)
	}
	return value.RowsOf(maps...)
}
