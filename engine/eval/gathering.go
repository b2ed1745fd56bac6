package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// gathering finds the members of an input among candidates.
type gathering struct {
	r      *memoReader
	in     *plan.Input
	table  *world.Table
	probes texts
	// found says that an exact index has found the candidates: all are members that have
	// a key.
	found bool
	// known are members from before, by their names, of which those that are as they were
	// still are members.
	known []*member
	// items are the values of candidates whose columns are computed.
	items []value.Value
	made  chunks[member]
}

func (g *gathering) members(candidates []*world.Object) []*member {
	g.r.ev.meter.Grow(len(candidates))
	if g.known != nil {
		return g.again(candidates)
	}
	if g.byName() && g.charge(len(candidates)) {
		return g.named(candidates)
	}
	var out []*member
	by := g.by(candidates)
	defer by.end()
	var columns *itemColumns
	f := g.r.ev.frame()
	for i, o := range candidates {
		if by != nil && i%manyItems == 0 {
			columns = g.columns(by, candidates[i:min(i+manyItems, len(candidates))])
		}
		m, known := columns.member(i%manyItems, o, &g.made)
		if !known {
			m = g.one(o, f)
		}
		if i == manyItems { // as many of the others are members, or about
			out = slices.Grow(out, len(out)*(len(candidates)-i)/i)
		}
		if m != nil {
			out = append(out, m)
		}
	}
	return out
}

// again is members where some are known. Both lists are in the order of the names.
func (g *gathering) again(candidates []*world.Object) []*member {
	out, at, f := make([]*member, 0, len(g.known)), 0, g.r.ev.frame()
	for _, o := range candidates {
		for at < len(g.known) && world.Compare(g.known[at].object, o) < 0 {
			at++
		}
		var m *member
		if at < len(g.known) && g.same(g.known[at], o) {
			m = g.known[at]
		} else {
			m = g.one(o, f)
		}
		if m != nil {
			out = append(out, m)
		}
	}
	return out
}

// same reports whether an object is as it was when it was found to be a member.
func (g *gathering) same(m *member, o *world.Object) bool {
	return m.object == o && identical(m.value, g.r.ev.overlay.of(o))
}

// byName reports whether candidates are members, as they are, under their names.
func (g *gathering) byName() bool {
	return g.found && g.in.Key != nil && len(g.in.OrderBy) == 0 && analyze.IsName(g.in.Key)
}

// named returns candidates as members under their names.
func (g *gathering) named(candidates []*world.Object) []*member {
	out := make([]*member, len(candidates))
	for i, o := range candidates {
		out[i] = g.made.one()
		*out[i] = member{object: o, value: o.Value, key: o.Name}
	}
	return out
}

// charge charges for the keys of so many candidates; nothing if that is too much.
func (g *gathering) charge(n int) bool {
	weight, _ := g.in.Key.Weight()
	mark := g.r.ev.meter.Mark()
	if g.r.ev.meter.Spend(weight*uint64(n)) == nil && g.r.ev.meter.Built(n) == nil {
		return true
	}
	g.r.ev.meter.Restore(mark)
	return false
}

// one judges a candidate by itself.
func (g *gathering) one(o *world.Object, f *frame) *member {
	if !g.found {
		return refreshing{r: g.r, in: g.in, table: g.table}.judge(o, g.probes, f)
	}
	m := search{ev: g.r.ev}.consider(o, f)
	if !(search{ev: g.r.ev, in: g.in}).locate(m, f) {
		return nil
	}
	return m
}

// by returns what computes the condition, keys and order of many candidates at once;
// nil when that is not possible.
func (g *gathering) by(candidates []*world.Object) *columnRun {
	if len(candidates) <= fewItems || !g.found && g.probes != nil {
		return nil
	}
	if !g.found && slices.ContainsFunc(candidates, func(o *world.Object) bool { return !g.in.Near(g.r.ev.in.Key.Namespace, o) }) {
		return nil
	}
	c := &plan.Collection{As: "item", When: g.in.Where, Key: g.in.Key, OrderBy: g.in.OrderBy}
	if g.found {
		c.When = nil
	}
	return &columnRun{ev: g.r.ev, c: c, memory: g.r.ev.columnMemory()}
}

// columns computes the columns of candidates; nil when that is not possible.
func (g *gathering) columns(by *columnRun, candidates []*world.Object) *itemColumns {
	g.items = g.items[:0]
	for _, o := range candidates {
		g.items = append(g.items, g.r.ev.overlay.of(o))
	}
	mark := g.r.ev.meter.Mark()
	out := by.fill(g.items)
	if out == nil {
		g.r.ev.meter.Restore(mark)
	}
	return out
}

// member returns what the columns say of a candidate; known is false when it has to be
// judged by itself.
func (x *itemColumns) member(i int, o *world.Object, made *chunks[member]) (m *member, known bool) {
	at, holds, known := x.chosenAt(i)
	if !known || !holds {
		return nil, known
	}
	v, ok := x.vals[at].(*value.Map)
	if !ok {
		return nil, false
	}
	m = made.one()
	*m = member{object: o, value: v}
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
