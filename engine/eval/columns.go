package eval

import (
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// itemColumns are the results of a collection's expressions for all items, computed
// at once. A column is nil where the collection has no such expression.
type itemColumns struct {
	when, vals, keys []value.Value
	order            [][]value.Value
	// cost is what each item costs.
	cost uint64
}

// fewItems is up to how many items are not worth a column.
const fewItems = 8

// columnsOf computes the columns of a collection that reads nothing but its items
// and params; nil when that is not possible.
func (ev *evaluation) columnsOf(c *plan.Collection, items []value.Value) *itemColumns {
	if !c.Shared || len(c.Locals) > 0 || len(items) <= fewItems {
		return nil
	}
	named := map[string][]value.Value{c.As: items}
	b := columnBatch{Batch: direct.Batch{Rows: len(items), Columns: named, Scope: &frame{ev: ev}}, meter: ev.meter, ok: true}
	out := &itemColumns{when: b.of(c.When), vals: items}
	if c.Value != nil {
		out.vals = b.of(c.Value.Program())
		b.ok = b.ok && out.vals != nil
	}
	named["value"] = unwrapped(out.vals)
	out.keys = b.of(c.Key)
	for _, p := range c.OrderBy {
		out.order = append(out.order, b.of(p))
	}
	out.cost = b.cost
	if !b.ok || ev.meter.Spend(b.cost*uint64(len(items))) != nil {
		return nil
	}
	return out
}

// unwrapped returns the values of optionals; what is none stays unknown.
func unwrapped(column []value.Value) []value.Value {
	out := make([]value.Value, len(column))
	for i, v := range column {
		out[i] = value.Unwrap(v)
	}
	return out
}

// columnBatch computes columns one after the other.
type columnBatch struct {
	direct.Batch
	meter *expr.Meter
	cost  uint64
	ok    bool
}

// of returns the column of an expression; nil for none.
func (b *columnBatch) of(p *cel.Program) []value.Value {
	if p == nil || !b.ok {
		return nil
	}
	out := p.Rows(&b.Batch, b.meter)
	weight, _ := p.Weight()
	b.cost += weight
	b.ok = out != nil
	return out
}

// entry returns what the columns say of an item; false when it has to be computed by
// itself.
func (x *itemColumns) entry(i int, e *entry, made *computed) bool {
	if x.when != nil {
		switch {
		case x.when[i] == nil:
			return false
		case !value.IsTrue(x.when[i]):
			e.value = nil
			return true
		}
	}
	if x.vals[i] == nil {
		return false
	}
	if e.value = value.Unwrap(x.vals[i]); e.value == nil {
		return true
	}
	if x.keys != nil {
		text, ok := value.Str(value.Unwrap(x.keys[i]))
		if !ok {
			return false
		}
		if e.key = text; text == "" {
			return true
		}
	}
	return x.place(i, e, made)
}

// place says where an item is sorted.
func (x *itemColumns) place(i int, e *entry, made *computed) bool {
	if len(x.order) > 0 {
		e.order = made.order.take(len(x.order))
		for o, column := range x.order {
			if e.order[o] = column[i]; e.order[o] == nil {
				return false
			}
		}
	}
	e.present = true
	return true
}
