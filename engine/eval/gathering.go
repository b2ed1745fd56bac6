package eval

import (
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// gathering finds the members of an input among candidates.
type gathering struct {
	r      *memoReader
	in     *plan.Input
	table  *world.Table
	probes map[string]bool
	// found says that an exact index has found the candidates: all are members that have
	// a key.
	found bool
}

func (g *gathering) members(candidates []*world.Object) (out []*member) {
	g.r.ev.meter.Grow(len(candidates))
	columns := g.columns(candidates)
	f := g.r.ev.frame()
	for i, o := range candidates {
		m, known := columns.member(i, o)
		if !known {
			m = g.one(o, f)
		}
		if m != nil {
			out = append(out, m)
		}
	}
	return out
}

// one judges a candidate by itself.
func (g *gathering) one(o *world.Object, f *frame) *member {
	if !g.found {
		return g.r.judge(g.in, g.table, o, g.probes, f)
	}
	m := g.r.ev.consider(o, f)
	if !g.r.ev.locate(g.in, m, f) {
		return nil
	}
	return m
}

// columns computes the condition, keys and order of many candidates at once; nil when
// that is not possible.
func (g *gathering) columns(candidates []*world.Object) *itemColumns {
	if len(candidates) <= fewItems || !g.found && g.probes != nil {
		return nil
	}
	items := make([]value.Value, len(candidates))
	for i, o := range candidates {
		if !g.found && !g.in.Near(g.r.ev.Key.Namespace, o) {
			return nil
		}
		items[i] = g.r.ev.overlay.of(o)
	}
	c := &plan.Collection{As: "item", When: g.in.Where, Key: g.in.Key, OrderBy: g.in.OrderBy}
	if g.found {
		c.When = nil
	}
	mark := g.r.ev.meter.Mark()
	out := (&columnRun{ev: g.r.ev, c: c}).fill(items)
	if out == nil {
		g.r.ev.meter.Restore(mark)
	}
	return out
}

// member returns what the columns say of a candidate; known is false when it has to be
// judged by itself.
func (x *itemColumns) member(i int, o *world.Object) (m *member, known bool) {
	at, holds, known := x.chosenAt(i)
	if !known || !holds {
		return nil, known
	}
	v, ok := x.vals[at].(*value.Map)
	if !ok {
		return nil, false
	}
	m = &member{object: o, value: v}
	if x.keys != nil {
		if x.keys[at] == nil {
			return nil, false
		}
		if m.key, _ = value.Str(value.Unwrap(x.keys[at])); m.key == "" {
			return nil, true
		}
	}
	for _, column := range x.order {
		if column[at] == nil {
			return nil, false
		}
		m.order = append(m.order, column[at])
	}
	return m, true
}
