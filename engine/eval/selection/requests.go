package selection

import (
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/value"
)

// requests are what is sent of every candidate to a builtin.
type requests struct {
	vals  []*value.Map
	costs []uint32
	// known are the rows that have one.
	known set
}

// of returns the requests of some known rows, what they cost to make and how many
// nodes they have.
func (c *requests) of(rows set, count int) (out []*value.Map, cost uint64, weight int) {
	for at := range each(rows) {
		cost += uint64(c.costs[at])
		weight += value.Weight(c.vals[at])
	}
	if count == len(c.vals) {
		return c.vals, cost, weight
	}
	out = make([]*value.Map, 0, count)
	for at := range each(rows) {
		out = append(out, c.vals[at])
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
	todo := l.unknown(t.rows, s, func(from int32) bool { return old.vals[from] != nil })
	vals, costs := t.buildRows(tpl, todo, scope, s)
	if old != nil && l.inPlace && old.has(todo, vals, costs) {
		return old
	}
	out := &requests{vals: vals, costs: costs}
	if old != nil {
		out.vals, out.costs = merged(old.vals, vals, todo, l), merged(old.costs, costs, todo, l)
	}
	out.know()
	return out
}

// has reports whether some rows are the same.
func (c *requests) has(rows []int32, vals []*value.Map, costs []uint32) bool {
	for i, at := range rows {
		if !alike(vals[i], c.vals[at]) || costs[i] != c.costs[at] {
			return false
		}
	}
	return true
}

func alike(a, b *value.Map) bool {
	if a == nil || b == nil {
		return a == b
	}
	return value.Alike(a, b)
}

func (c *requests) know() {
	c.known = newSet(len(c.vals))
	for at, m := range c.vals {
		if m != nil {
			c.known.put(at)
		}
	}
}

// buildRows builds the requests of some rows; at once, where that is possible.
func (t *table) buildRows(tpl *cel.Template, rows []int32, scope expr.Scope, s *scratch) (vals []*value.Map, costs []uint32) {
	meter := columnMeter()
	defer meter.Close()
	meter.Grow(len(rows) * (expr.RunCost / expr.ItemCost))
	vals, costs = make([]*value.Map, len(rows)), make([]uint32, len(rows))
	b := &direct.Batch{Scope: scope, Memory: &s.columns}
	cost := t.buildAtOnce(tpl, rows, b, meter, vals, s)
	r := t.scope(scope)
	for i, at := range rows {
		if costs[i] = uint32(cost); vals[i] != nil {
			continue
		}
		t.fill(r, int(at))
		before := meter.Spent()
		if m, err := fields(tpl, r, meter); err == nil {
			vals[i] = m
		}
		costs[i] = uint32(meter.Spent() - before)
	}
	return vals, costs
}

// buildAtOnce builds the requests of rows at once, where that is possible, and returns
// what each of these costs.
func (t *table) buildAtOnce(tpl *cel.Template, rows []int32, b *direct.Batch, meter *expr.Meter, out []*value.Map, s *scratch) (cost uint64) {
	if len(rows) <= fewRows {
		return 0
	}
	n := naming{table: t, levels: len(t.levels), scratch: s}
	for some := range slices.Chunk(rows, piece) {
		b.Rows, b.Columns = len(some), n.named(some)
		made, each := tpl.Rows(b, meter)
		if made == nil {
			return cost
		}
		cost, out = each, out[copy(out, made):]
	}
	return cost
}
