package eval

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// itemColumns are the results of a collection's expressions for all items, computed
// at once. A column is nil where the collection has no such expression, and has nil
// for an item that has to be computed by itself.
type itemColumns struct {
	// when has a truth for each item, chosen the place of each in the columns below,
	// which are of those for which it is true; nil when they are of all.
	when   []value.Value
	chosen []int32
	vals   []value.Value
	keys   []value.Value
	order  [][]value.Value
	// held is which entries of maps each item looked up.
	held []*holder
}

// fewItems is up to how many items are not worth a column.
const fewItems = 8

// columnsOf computes the columns of a collection; nil when that is not possible. What
// was charged for them is taken back then. Somebody who wants to know what the parts
// of conditions come to is told item by item.
func (run *itemsRun) columnsOf(items []value.Value) *itemColumns {
	if len(items) <= fewItems || run.ev.Judged != nil {
		return nil
	}
	mark := run.ev.meter.Mark()
	h := run.begin()
	reads := &rowReads{items: len(items), row: -1}
	h.rows = reads
	out := run.fill(items, reads)
	h.rows = nil
	run.pop()
	if out == nil || len(h.entries) > 0 || len(h.recalls) > 0 || !h.until.IsZero() {
		run.ev.meter.Restore(mark)
		return nil
	}
	run.needs(h)
	for _, slot := range reads.slots {
		run.lookedIn(slot)
	}
	run.memo.lookups.expect(reads.count)
	return out
}

// fill computes the condition for all items, and the rest for those that meet it.
func (run *itemsRun) fill(items []value.Value, reads *rowReads) *itemColumns {
	out := &itemColumns{}
	b := run.batch(items, reads)
	if run.c.When != nil {
		if out.when = b.of(run.c.When); out.when == nil {
			return nil
		}
		b = run.chosen(b, out, reads)
	}
	if b.Rows > 0 {
		b.results(run.c, out)
	}
	if reads.anywhere {
		return nil
	}
	out.held = reads.holders(&run.kept)
	return out
}

// columnBatch computes columns one after the other.
type columnBatch struct {
	direct.Batch
	items []value.Value
}

// batch makes a batch of items.
func (run *itemsRun) batch(items []value.Value, reads *rowReads) *columnBatch {
	b := &columnBatch{items: items}
	b.Batch = direct.Batch{Rows: len(items), Columns: map[string][]value.Value{run.c.As: items}, Later: map[string]func() []value.Value{}, Scope: batchScope{&frame{ev: run.ev}}, Meter: run.ev.meter, At: reads.at}
	for _, v := range run.c.Locals {
		b.Later[v.Name] = func() []value.Value { return b.of(v.Program) }
	}
	return b
}

// chosen returns the batch of the items that meet the condition, with what is known
// of them.
func (run *itemsRun) chosen(all *columnBatch, out *itemColumns, reads *rowReads) *columnBatch {
	out.chosen = make([]int32, all.Rows)
	var rows []int32
	for i, holds := range out.when {
		if out.chosen[i] = int32(len(rows)); holds != nil && value.IsTrue(holds) {
			rows = append(rows, int32(i))
		}
	}
	if len(rows) == all.Rows {
		return all
	}
	reads.rows = rows
	b := run.batch(pick(all.items, rows), reads)
	for name, column := range all.Columns {
		delete(b.Later, name)
		b.Columns[name] = pick(column, rows)
	}
	return b
}

func pick(column []value.Value, rows []int32) []value.Value {
	out := make([]value.Value, len(rows))
	for i, at := range rows {
		out[i] = column[at]
	}
	return out
}

// results computes the values, keys and order of the items. Without a value there is
// nothing.
func (b *columnBatch) results(c *plan.Collection, out *itemColumns) {
	if out.vals = b.values(c.Value); out.vals == nil {
		return
	}
	b.Columns["value"] = unwrapped(out.vals)
	if out.keys = b.of(c.Key); c.Key != nil && out.keys == nil {
		out.vals = nil
	}
	for _, p := range c.OrderBy {
		column := b.of(p)
		if column == nil {
			out.vals = nil
			return
		}
		out.order = append(out.order, column)
	}
}

// values computes the values of the items; nil is the item itself.
func (b *columnBatch) values(t *cel.Template) []value.Value {
	switch {
	case t == nil:
		return b.items
	case t.Program() != nil:
		return b.of(t.Program())
	}
	made, _ := t.Rows(&b.Batch, b.Meter)
	if made == nil {
		return nil
	}
	out := make([]value.Value, len(made))
	for i, m := range made {
		if m != nil {
			out[i] = m
		}
	}
	return out
}

// of returns the column of an expression; nil for none.
func (b *columnBatch) of(p *cel.Program) []value.Value {
	if p == nil {
		return nil
	}
	return p.Rows(&b.Batch, b.Meter)
}

// unwrapped returns the values of optionals; what is none stays unknown.
func unwrapped(column []value.Value) []value.Value {
	out := make([]value.Value, len(column))
	for i, v := range column {
		out[i] = value.Unwrap(v)
	}
	return out
}

// batchScope is the scope of a batch. Calls that depend on the evaluation are made item
// by item: they may tell until when the result holds.
type batchScope struct{ *frame }

var _ interpreter.Activation = batchScope{}

// ResolveName implements interpreter.Activation.
func (s batchScope) ResolveName(name string) (any, bool) {
	if name == cel.CallVariable {
		return types.NewUnknown(0, nil), true
	}
	return s.frame.ResolveName(name)
}

// entry returns what the columns say of an item; false when it has to be computed by
// itself.
func (x *itemColumns) entry(i int, e *entry, made *computed) bool {
	at := i
	if x.when != nil {
		switch {
		case x.when[i] == nil:
			return false
		case !value.IsTrue(x.when[i]):
			e.value = nil
			return true
		}
		at = int(x.chosen[i])
	}
	if x.vals == nil || x.vals[at] == nil {
		return false
	}
	if e.value = value.Unwrap(x.vals[at]); e.value == nil {
		return true
	}
	if x.keys != nil {
		text, ok := value.Str(value.Unwrap(x.keys[at]))
		if !ok {
			return false
		}
		if e.key = text; text == "" {
			return true
		}
	}
	return x.place(at, e, made)
}

// place says where an item is sorted.
func (x *itemColumns) place(at int, e *entry, made *computed) bool {
	if len(x.order) > 0 {
		e.order = made.order.take(len(x.order))
		for o, column := range x.order {
			if e.order[o] = column[at]; e.order[o] == nil {
				return false
			}
		}
	}
	e.present = true
	return true
}
