package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// rowReads records which entries of maps are looked up for which items, while columns
// are computed.
type rowReads struct {
	// items is how many there are, row the one that is computed, -1 none in particular.
	items, row int
	// rows are the items that the columns are of; nil when they are of all.
	rows []int32
	// slots are the maps in which entries are looked up.
	slots []slotReads
	// more are the entries of items that look up several in one map.
	more []rowRead
	// held is what each item has looked up.
	held []*itemHolder
	// anywhere says that an entry was looked up for no item in particular.
	anywhere bool
}

// slotReads are the first entries that items look up in a map: most look up no other.
type slotReads struct {
	slot  readSlot
	count int
	// first has no slot for an item that has looked up none.
	first []entryRead
}

// rowRead is an entry that was looked up for an item.
type rowRead struct {
	entryRead
	row int
}

// begin starts anew with so many items.
func (r *rowReads) begin(items int) {
	*r = rowReads{items: items, row: -1, slots: r.slots[:0], more: r.more[:0], held: r.held}
}

// forget drops what was looked up, and keeps the room for it.
func (r *rowReads) forget() {
	for _, in := range r.slots[:cap(r.slots)] {
		clear(in.first[:cap(in.first)])
	}
	clear(r.more[:cap(r.more)])
	clear(r.held[:cap(r.held)])
	r.begin(0)
}

// at says for which row of the columns entries are looked up next.
func (r *rowReads) at(row int) {
	if r.row = row; row >= 0 && r.rows != nil {
		r.row = int(r.rows[row])
	}
}

// only says that the next columns are of these items.
func (r *rowReads) only(rows []int32) { r.rows = rows }

func (r *rowReads) looked(slot plan.Slot, key string, v value.Value) {
	if r.row < 0 {
		r.anywhere = true
		return
	}
	in := r.in(readOf(slot))
	switch first := &in.first[r.row]; {
	case first.slot != in.slot:
		*first = entryRead{in.slot, key, v}
	case first.key == key:
		return
	default:
		r.more = append(r.more, rowRead{entryRead{in.slot, key, v}, r.row})
	}
	in.count++
}

// in returns what is looked up in a map.
func (r *rowReads) in(slot readSlot) *slotReads {
	for i := range r.slots {
		if r.slots[i].slot == slot {
			return &r.slots[i]
		}
	}
	n := len(r.slots)
	if n == cap(r.slots) {
		r.slots = append(r.slots, slotReads{})
	}
	r.slots = r.slots[:n+1]
	in := &r.slots[n]
	first := slices.Grow(in.first[:0], r.items)[:r.items]
	clear(first)
	*in = slotReads{slot: slot, first: first}
	return in
}

// holders returns what each item looked up, until the next items; nil when none looked
// up anything.
func (r *rowReads) holders(to *kept) []*itemHolder {
	if len(r.slots) == 0 {
		return nil
	}
	r.held = append(r.held[:0], make([]*itemHolder, r.items)...)
	for row := range r.held {
		r.held[row] = r.holder(row, to)
	}
	for i := range r.more {
		if h := r.held[r.more[i].row]; !h.looksUp(&r.more[i].entryRead) {
			h.entries = append(h.entries, r.more[i].entryRead)
		}
	}
	return r.held
}

// holder returns what an item looked up first in each map; nil for nothing.
func (r *rowReads) holder(row int, to *kept) *itemHolder {
	n := 0
	for i := range r.slots {
		if r.slots[i].first[row].slot == r.slots[i].slot {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	h := to.holders.one()
	h.entries = to.entries.take(n)[:0]
	for i := range r.slots {
		if e := &r.slots[i].first[row]; e.slot == r.slots[i].slot {
			h.entries = append(h.entries, *e)
		}
	}
	return h
}

// heldBy returns what an item has looked up.
func heldBy(list []*itemHolder, i int) *itemHolder {
	if list == nil || list[i] == nil {
		return nothingHeld
	}
	return list[i]
}
