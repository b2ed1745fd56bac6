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
	// reads are in pieces of memory for as many as there are items, so that none is
	// copied, and piece is the one that is filled.
	reads [][]rowRead
	piece int
	// slots are the maps in which they are, counts how many in each.
	slots  []readSlot
	counts []int
	// anywhere says that an entry was looked up for no item in particular.
	anywhere bool
}

// rowRead is an entry that was looked up for an item.
type rowRead struct {
	entryRead
	row int32
}

// begin starts anew with so many items.
func (r *rowReads) begin(items int) {
	for i := range r.reads {
		r.reads[i] = r.reads[i][:0]
	}
	*r = rowReads{items: items, row: -1, reads: r.reads, slots: r.slots[:0], counts: r.counts[:0]}
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
	in := readOf(slot)
	at := slices.Index(r.slots, in)
	if at < 0 {
		at = len(r.slots)
		r.slots, r.counts = append(r.slots, in), append(r.counts, 0)
	}
	r.counts[at]++
	if r.piece < len(r.reads) && len(r.reads[r.piece]) == cap(r.reads[r.piece]) {
		r.piece++
	}
	if r.piece == len(r.reads) {
		r.reads = append(r.reads, make([]rowRead, 0, r.items))
	}
	r.reads[r.piece] = append(r.reads[r.piece], rowRead{entryRead{in, key, v}, int32(r.row)})
}

// holders returns what each item looked up; nil when none looked up anything.
func (r *rowReads) holders(in *kept) []*itemHolder {
	if len(r.slots) == 0 {
		return nil
	}
	counts := make([]int32, r.items)
	for _, piece := range r.reads {
		for i := range piece {
			counts[piece[i].row]++
		}
	}
	out := make([]*itemHolder, r.items)
	for _, piece := range r.reads {
		for i := range piece {
			piece[i].keep(out, counts, in)
		}
	}
	return out
}

// keep adds the entry to what its item has looked up, of which there are so many.
func (r *rowRead) keep(out []*itemHolder, counts []int32, in *kept) {
	h := out[r.row]
	if h == nil {
		h = in.holders.one()
		h.entries = in.entries.take(int(counts[r.row]))[:0]
		out[r.row] = h
	}
	if !h.looksUp(&r.entryRead) {
		h.entries = append(h.entries, r.entryRead)
	}
}

// heldBy returns what an item has looked up.
func heldBy(list []*itemHolder, i int) *itemHolder {
	if list == nil || list[i] == nil {
		return nothingHeld
	}
	return list[i]
}
