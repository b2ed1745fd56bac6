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

func (t *table) build(tpl *cel.Template, old *requests, l *legacy, scope expr.Scope) *requests {
	meter := columnMeter()
	defer meter.Close()
	out := &requests{vals: make([]*value.Map, t.rows), costs: make([]uint32, t.rows)}
	todo := make([]int32, 0, t.rows)
	for at := range out.vals {
		if old != nil && l.from[at] >= 0 && old.vals[l.from[at]] != nil {
			out.vals[at], out.costs[at] = old.vals[l.from[at]], old.costs[l.from[at]]
			continue
		}
		todo = append(todo, int32(at))
	}
	fresh := slices.Clone(todo)
	meter.Grow(len(todo) * (expr.RunCost / expr.ItemCost))
	r := t.scope(scope)
	for _, at := range t.buildRows(tpl, out, todo, scope, meter) {
		t.fill(r, int(at))
		before := meter.Spent()
		if m, err := fields(tpl, r, meter); err == nil {
			out.vals[at] = m
		}
		out.costs[at] = uint32(meter.Spent() - before)
	}
	if out.unchanged(old, l, fresh) {
		return old
	}
	out.know()
	return out
}

// unchanged reports whether the requests are those of the older table.
func (c *requests) unchanged(old *requests, l *legacy, fresh []int32) bool {
	if old == nil || !l.inPlace {
		return false
	}
	for _, at := range fresh {
		if !alike(c.vals[at], old.vals[at]) || c.costs[at] != old.costs[at] {
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

// buildRows builds the requests of many rows at once, where that is possible, and
// returns the rows that are left.
func (t *table) buildRows(tpl *cel.Template, out *requests, todo []int32, scope expr.Scope, meter *expr.Meter) []int32 {
	if len(todo) <= fewRows {
		return todo
	}
	maps, cost := tpl.Rows(&direct.Batch{Rows: len(todo), Columns: t.named(todo), Scope: scope}, meter)
	if maps == nil {
		return todo
	}
	left := todo[:0]
	for i, at := range todo {
		if out.vals[at], out.costs[at] = maps[i], uint32(cost); maps[i] == nil {
			left = append(left, at)
		}
	}
	return left
}
