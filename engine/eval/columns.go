package eval

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/expr/direct"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// fewItems is up to how many items are not worth a column, and manyItems of how many
// columns are computed at once: what is read of an item for one column is still near
// when it is read for the next.
const (
	fewItems  = 8
	manyItems = 256
)

// columnRun computes the columns of a collection, or of an input as if it were one.
type columnRun struct {
	ev     *evaluation
	c      *plan.Collection
	memory *columnMemory
	// at and only are told for which item entries of maps are looked up next, and that
	// the next columns are of some items only; nil when nobody needs to know.
	at   func(row int)
	only func(rows []int32)
}

// fill computes the condition for all items, and the rest for those that meet it. The
// columns are written over by the next call.
func (run *columnRun) fill(items []value.Value) *itemColumns {
	run.memory.again()
	out := &itemColumns{unique: run.c.Unique}
	b := run.batch(items)
	if run.c.When != nil {
		if out.when = b.of(run.c.When); out.when == nil {
			return nil
		}
		b = run.chosen(b, out)
	}
	if b.Rows > 0 {
		mark := run.ev.meter.Mark()
		if b.results(run.c, out); out.vals == nil {
			run.ev.meter.Restore(mark)
			run.refund(b.Rows)
		}
	}
	return out
}

// refund takes back what the condition has cost for items that are computed one by one.
func (run *columnRun) refund(items int) {
	if run.c.When != nil {
		weight, _ := run.c.When.Weight()
		run.ev.meter.Refund(weight*uint64(items), 0)
	}
}

// columnBatch computes columns one after the other.
type columnBatch struct {
	direct.Batch
	run   *columnRun
	items []value.Value
}

// batch makes a batch of items.
func (run *columnRun) batch(items []value.Value) *columnBatch {
	b := &columnBatch{run: run, items: items}
	b.Batch = direct.Batch{
		Rows: len(items), Columns: map[string][]value.Value{run.c.As: items}, Scope: batchScope{&frame{ev: run.ev}},
		Meter: run.ev.meter, At: run.at, Memory: &run.memory.spare,
	}
	for _, v := range run.c.Locals {
		b.later(v.Name, func() []value.Value { return b.of(v.Program) })
	}
	return b
}

// later says how the column of a name is computed when it is needed.
func (b *columnBatch) later(name string, column func() []value.Value) {
	if b.Later == nil {
		b.Later = map[string]func() []value.Value{}
	}
	b.Later[name] = column
}

// chosen returns the batch of the items that meet the condition, with what is known
// of them.
func (run *columnRun) chosen(all *columnBatch, out *itemColumns) *columnBatch {
	var rows []int32
	out.chosen, rows = run.memory.meet(out.when)
	if len(rows) == all.Rows {
		return all
	}
	if run.only != nil {
		run.only(rows)
	}
	b := run.batch(run.pick(all.items, rows))
	for name, column := range all.Columns {
		delete(b.Later, name)
		b.Columns[name] = run.pick(column, rows)
	}
	return b
}

func (run *columnRun) pick(column []value.Value, rows []int32) []value.Value {
	out := run.memory.column(len(rows))
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
	b.later("value", func() []value.Value { return b.unwrapped(out.vals) })
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
	made, _ := t.Mapping().Rows(&b.Batch, b.Meter)
	if made == nil {
		return nil
	}
	out := b.run.memory.column(len(made))
	for i, m := range made {
		if out[i] = nil; m != nil {
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
	out := p.Rows(&b.Batch, b.Meter)
	if out != nil {
		b.run.memory.made = append(b.run.memory.made, out)
	}
	return out
}

// unwrapped returns the values of optionals; what is none stays unknown.
func (b *columnBatch) unwrapped(column []value.Value) []value.Value {
	out := b.run.memory.column(len(column))
	for i, v := range column {
		out[i] = value.Unwrap(v)
	}
	return out
}

// batchScope is the scope of a batch. Calls that depend on the evaluation are made item
// by item: they may tell until when the result holds.
type batchScope struct{ frame *frame }

var _ interpreter.Activation = batchScope{}

// Parent implements interpreter.Activation.
func (s batchScope) Parent() interpreter.Activation { return nil }

// ResolveName implements interpreter.Activation.
func (s batchScope) ResolveName(name string) (any, bool) {
	if name == cel.CallVariable {
		return types.NewUnknown(0, nil), true
	}
	return s.frame.ResolveName(name)
}
