package eval

import (
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// itemsRun is a collection while it is brought up to date.
type itemsRun struct {
	reader *memoReader
	c      *plan.Collection
	old    *collectionMemo
	next   *collectionMemo
	// from are the places of the items in the old list, byItem those of texts; both are
	// made when an item is not where it was.
	from    []int32
	byItem  map[value.Value]int
	stale   map[readSlot]bool // maps that have changed
	claimed []bool
	// What each item is computed with, one after the other.
	frame *frame
	held  *holder
	kept  kept
	made  computed
	// columns are the results of items from the first on, up to another, that were computed
	// at once by a run; nil when none were.
	columns      *itemColumns
	first, until int
	by           *columnRun
}

// prepare finds out what of the old items can be kept at all.
func (run *itemsRun) prepare() {
	if run.old == nil {
		return
	}
	mask := run.c.ObjectMask
	if !(checking{run.reader.ev}).sameObject(run.old.object, mask) || !(checking{run.reader.ev}).sameWholes(run.old.wholes) {
		return
	}
	run.claimed = make([]bool, len(run.old.items))
	run.next.wholes = run.old.wholes
	run.stale = map[readSlot]bool{}
	for i := range run.old.maps {
		w := run.old.maps[i]
		now, err := run.reader.ev.fetch(w.slot.of())
		if err != nil || !identical(now, w.value) {
			run.stale[w.slot] = true
		}
		if err == nil {
			run.next.maps.add(w.slot.of(), now)
		}
	}
}

// item keeps an item or computes it.
func (run *itemsRun) item(i int, item value.Value) error {
	at := run.find(i, item)
	if at >= 0 && run.fresh(&run.old.items[at]) {
		kept := run.old.items[at]
		run.claimed[at] = true
		run.next.items = append(run.next.items, kept)
		run.reader.ev.noteFlip(kept.held.until())
		return nil
	}
	if e, known := run.columns.entry(i-run.first, &run.made); known {
		held := heldBy(run.columns.held, i-run.first)
		run.reader.memo.lookups.entriesOf(held.entries, 1)
		run.add(itemMemo{held: held, entry: e})
		return nil
	}
	e := run.made.entries.one()
	h := run.begin()
	err := computation{run.reader.ev}.computeItem(run.c, item, run.frame, 0, e, &run.made)
	run.reader.pop()
	run.needs(h)
	h.wholes = h.wholes[:0]
	if was := run.was(i, at); err == nil && was != nil {
		e = e.unless(was.entry)
	}
	run.reader.memo.lookups.count(h.wholes, h.entries, 1)
	run.add(itemMemo{held: h.keep(&run.kept), entry: e})
	return err
}

// needs makes the collection depend on what was read whole, and on the maps of which
// entries were looked up.
func (run *itemsRun) needs(h *holder) {
	for _, w := range h.wholes {
		run.next.wholes.add(w.slot.of(), w.value)
	}
	for i := range h.entries {
		run.lookedIn(h.entries[i].slot)
	}
}

// lookedIn notes a map of which an entry was looked up, as it is now.
func (run *itemsRun) lookedIn(slot readSlot) {
	for i := range run.next.maps {
		if run.next.maps[i].slot == slot {
			return
		}
	}
	if m, err := run.reader.ev.fetch(slot.of()); err == nil {
		run.next.maps.add(slot.of(), m)
	}
}

func (run *itemsRun) add(m itemMemo) { run.next.items = append(run.next.items, m) }

// begin records what the next item is computed from.
func (run *itemsRun) begin() *holder {
	h := run.held
	*h = holder{wholes: h.wholes[:0], entries: h.entries[:0], recalls: h.recalls[:0]}
	run.reader.scratch.stack = append(run.reader.scratch.stack, h)
	return h
}

// fresh reports whether an item's old result still holds.
func (run *itemsRun) fresh(m *itemMemo) bool {
	if !m.held.until().IsZero() && !run.reader.ev.in.Now.Before(m.held.until()) || !(checking{run.reader.ev}).sameRecalls(m.held.recalls()) {
		return false
	}
	if len(run.stale) == 0 {
		return true
	}
	for i := range m.held.entries {
		e := &m.held.entries[i]
		if run.stale[e.slot] && !(checking{run.reader.ev}).sameEntry(e) {
			return false
		}
	}
	return true
}

// end frees the memory of what was under way, and what is not kept.
func (run *itemsRun) end() {
	run.by.end()
	run.reader.scratch.free(run.held)
	run.release()
}

// release gives back the lookups of the items that were not kept.
func (run *itemsRun) release() {
	if run.old == nil {
		return
	}
	for i := range run.old.items {
		if run.claimed == nil || !run.claimed[i] {
			run.reader.memo.lookups.entriesOf(run.old.items[i].held.entries, -1)
		}
	}
}

// abandon ends a run that failed: what the items depend on is held by the variable, so
// that its change wakes the key.
func (run *itemsRun) abandon(m *variableMemo, h *holder) {
	for i := range run.next.items {
		for _, e := range run.next.items[i].held.entries {
			h.entry(e.slot.of(), e.key, e.value)
		}
	}
	run.holdAll(h)
	run.release()
	for i := range run.next.items {
		run.reader.memo.lookups.entriesOf(run.next.items[i].held.entries, -1)
	}
	m.items = nil
}

// hold makes the whole collection depend on what its items depend on.
func (run *itemsRun) hold(h *holder) {
	h.mapped = append(h.mapped, run.next.maps...)
	run.holdAll(h)
}

// holdAll holds all that items depend on but the entries that they looked up.
func (run *itemsRun) holdAll(h *holder) {
	for _, w := range run.next.wholes {
		h.whole(w.slot.of(), w.value)
	}
	for i := range run.next.items {
		if until := run.next.items[i].held.until(); !until.IsZero() {
			h.flip(until)
		}
		h.recalls = append(h.recalls, run.next.items[i].held.recalls()...)
	}
}

// assembled makes the collection's value of what its items gave.
func (run *itemsRun) assembled(v *plan.Variable) (value.Value, error) {
	s := run.reader.scratch
	for i := range run.next.items {
		s.entries = append(s.entries, run.next.items[i].entry)
	}
	out, err := assemble(run.c, v, s.entries)
	clear(s.entries)
	s.entries = s.entries[:0]
	return out, err
}
