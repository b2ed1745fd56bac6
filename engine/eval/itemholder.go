package eval

import (
	"slices"
	"time"
)

// itemHolder is what an item of a collection was computed from, beside what all of
// them may have read: entries that it looked up, and the time until which it holds.
type itemHolder struct {
	entries []entryRead
	recalls []recallRead
	until   time.Time
}

// nothingHeld is what most items hold.
var nothingHeld = &itemHolder{}

// keep returns what an item of a collection looked up, to stay.
func (h *holder) keep(in *kept) *itemHolder {
	if len(h.entries) == 0 && len(h.recalls) == 0 && h.until.IsZero() {
		return nothingHeld
	}
	out := in.holders.one()
	*out = itemHolder{recalls: slices.Clone(h.recalls), until: h.until}
	if len(h.entries) > 0 {
		out.entries = in.entries.take(len(h.entries))
		copy(out.entries, h.entries)
	}
	return out
}

// kept is where the holders of items are put, many of them in one piece of memory.
type kept struct {
	holders chunks[itemHolder]
	entries chunks[entryRead]
}

// looksUp reports whether an item has looked up an entry.
func (h *itemHolder) looksUp(e *entryRead) bool {
	return slices.ContainsFunc(h.entries, func(known entryRead) bool { return known.key == e.key && known.slot == e.slot })
}
