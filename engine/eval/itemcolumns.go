package eval

import "github.com/edict-dev/edict/engine/value"

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
	// unique says that of items with the same value one is wanted.
	unique bool
	// held is which entries of maps each item looked up.
	held []*itemHolder
}

// ahead computes the columns of the next items, when those before have been used up.
// Somebody who wants to know what the parts of conditions come to is told item by item.
func (run *itemsRun) ahead(at int) {
	if at == 0 && run.old == nil && len(run.next.list) > fewItems && run.reader.ev.in.Judged == nil {
		m := run.reader.ev.columnMemory()
		run.by = &columnRun{ev: run.reader.ev, c: run.c, memory: m, at: m.reads.at, only: m.reads.only}
	}
	if run.by == nil || at < run.until {
		return
	}
	run.first, run.until = at, min(at+manyItems, len(run.next.list))
	if run.columns = run.columnsOf(run.next.list[at:run.until]); run.columns == nil {
		run.by = nil
	}
}

// columnsOf computes the columns of items; nil when that is not possible. What was
// charged for them is taken back then.
func (run *itemsRun) columnsOf(items []value.Value) *itemColumns {
	mark := run.reader.ev.meter.Mark()
	h, reads := run.begin(), &run.by.memory.reads
	reads.begin(len(items))
	h.rows = reads
	out := run.by.fill(items)
	h.rows = nil
	run.reader.pop()
	if out == nil || reads.anywhere || len(h.entries) > 0 || len(h.recalls) > 0 || !h.until.IsZero() {
		run.reader.ev.meter.Restore(mark)
		return nil
	}
	if !out.unique {
		run.made.entries.reserve(len(out.vals))
	}
	out.held = reads.holders(&run.kept)
	run.needs(h)
	for i := range reads.slots {
		of := &reads.slots[i]
		run.lookedIn(of.slot)
		if in, ok := of.slot.input(); ok {
			run.reader.memo.lookups.expect(in, of.count*len(run.next.list)/len(items))
		}
	}
	return out
}

// absent is the result of all items that do not meet the condition.
var absent = &entry{}

// entry returns what the columns say of an item; known is false when it has to be
// computed by itself.
func (x *itemColumns) entry(i int, made *computed) (e *entry, known bool) {
	at, holds, known := x.chosenAt(i)
	if !known || !holds {
		return absent, known
	}
	v, key := value.Unwrap(x.vals[at]), ""
	if v == nil {
		return absent, true
	}
	if x.keys != nil {
		text, ok := value.Str(value.Unwrap(x.keys[at]))
		if !ok || text == "" {
			return absent, ok
		}
		key = text
	}
	repeats := x.unique && x.keys == nil
	if repeats {
		if e := made.repeats.find(v, x.order, at); e != nil {
			return e, true
		}
	}
	order, known := x.place(at, made)
	if !known {
		return nil, false
	}
	e = made.entries.one()
	*e = entry{present: true, value: v, key: key, order: order}
	if repeats {
		made.repeats.add(e)
	}
	return e, true
}

// chosenAt returns the place of an item in the columns, and whether it meets the
// condition; known is false when it has to be computed by itself.
func (x *itemColumns) chosenAt(i int) (at int, holds, known bool) {
	if x == nil {
		return 0, false, false
	}
	if at = i; x.when != nil {
		if x.when[i] == nil || !value.IsTrue(x.when[i]) {
			return 0, false, x.when[i] != nil
		}
		at = int(x.chosen[i])
	}
	return at, true, x.vals != nil && x.vals[at] != nil
}

// place says where an item is sorted.
func (x *itemColumns) place(at int, made *computed) (order []value.Value, known bool) {
	if len(x.order) == 0 {
		return nil, true
	}
	order = made.order.take(len(x.order))
	for o, column := range x.order {
		if order[o] = column[at]; order[o] == nil {
			return nil, false
		}
	}
	return order, true
}
