package eval

import (
	"slices"
	"time"
)

// itemHolder is what an item of a collection was computed from, beside what all of
// them may have read: entries that it looked up, and the time until which it holds.
type itemHolder struct {
	entries []entryRead
	// times are what few items depend on; nil for the others.
	times *itemTimes
}

// itemTimes are what an item has asked of the memory of earlier evaluations, and the time
// until which it holds.
type itemTimes struct {
	recalls []recallRead
	until   time.Time
}

// until is the time until which the item holds; zero is always.
func (h *itemHolder) until() time.Time {
	if h.times == nil {
		return time.Time{}
	}
	return h.times.until
}

// recalls are what was asked of the memory of earlier evaluations.
func (h *itemHolder) recalls() []recallRead {
	if h.times == nil {
		return nil
	}
	return h.times.recalls
}

// nothingHeld is what most items hold.
var nothingHeld = &itemHolder{}

// keep returns what an item of a collection looked up, to stay.
func (h *holder) keep(in *kept) *itemHolder {
	if len(h.entries) == 0 && len(h.recalls) == 0 && h.until.IsZero() {
		return nothingHeld
	}
	out := in.holders.one()
	if len(h.recalls) > 0 || !h.until.IsZero() {
		out.times = &itemTimes{recalls: slices.Clone(h.recalls), until: h.until}
	}
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
