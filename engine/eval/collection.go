package eval

import (
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// collectionMemo keeps a collection item by item.
type collectionMemo struct {
	object value.Value
	// wholes are the names that any item read as a whole: when one changes,
	// all items are computed again.
	wholes wholeReads
	// maps are the maps of which items looked up entries, as they were.
	maps  wholeReads
	items []itemMemo
	// list are the items themselves.
	list  []value.Value
	value value.Value
}

// itemMemo is what one item gave and which entries it looked up.
type itemMemo struct {
	// held is shared by all items that looked up nothing.
	held  *itemHolder
	entry *entry
}

// collection computes the items that changed, or that read something that
// changed, and keeps the others.
func (r *memoReader) collection(v *plan.Variable, m *variableMemo, h *holder) (value.Value, error) {
	c := v.Collection
	list, err := computation{r.ev}.items(c, r.ev.frame())
	if err != nil {
		r.forget(m)
		return nil, err
	}
	if c.Shared {
		found, like := r.ev.in.Shared.collection(v, list)
		if found != nil {
			m.items = found
			return found.value, nil
		}
		if m.items == nil {
			m.items = like
		}
	}
	items := list.Items()
	run := itemsRun{reader: r, c: c, frame: r.ev.frame(), held: r.scratch.holder(), old: m.items, next: &collectionMemo{object: r.ev.objectValue(), list: items, items: make([]itemMemo, 0, len(items))}}
	run.prepare()
	for i, item := range items {
		run.ahead(i)
		if err := run.item(i, item); err != nil {
			run.abandon(m, h)
			return nil, itemError(item, err)
		}
	}
	run.end()
	m.items = run.next
	run.hold(h)
	if run.old != nil && len(run.old.items) == len(items) && sameOrder(run.old.items, run.next.items) {
		run.next.value = run.old.value
	} else if run.next.value, err = run.assembled(v); err != nil {
		r.forget(m)
		return nil, err
	}
	if c.Shared {
		run.next.object = nil // nothing of it was read
		r.ev.in.Shared.keep(v, list, run.next)
	}
	return run.next.value, nil
}

func sameOrder(a, b []itemMemo) bool {
	for i := range a {
		if a[i].entry != b[i].entry {
			return false
		}
	}
	return true
}

// forget drops a collection's items.
func (r *memoReader) forget(m *variableMemo) {
	if m.items == nil {
		return
	}
	for i := range m.items.items {
		r.memo.lookups.entriesOf(m.items.items[i].held.entries, -1)
	}
	m.items = nil
}
