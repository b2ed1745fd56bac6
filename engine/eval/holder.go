package eval

import (
	"slices"
	"time"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// holder records what a result is computed from: names of the policy read as
// a whole, single entries of maps, and the time until which it holds. What stays of it
// are reads.
type holder struct {
	wholes  wholeReads
	entries []entryRead
	// known finds entries once there are many of them.
	known map[entryName]bool
	// mapped are maps whose entries the items of a collection looked up. They
	// decide whether the collection has to be gone through again; the items
	// themselves hold the entries.
	mapped []wholeRead
	// recalls are what was asked of the memory of earlier evaluations.
	recalls []recallRead
	until   time.Time
	// rows take the entries in place of this holder while columns are computed.
	rows *rowReads
}

// recallRead is something remembered and the value it had; nil means none.
type recallRead struct {
	name  string
	value value.Value
}

func (h *holder) recall(name string, v value.Value) {
	h.recalls = append(h.recalls, recallRead{name, v})
}

// wholeRead is a name of the policy and the value it had, which is an error if it failed.
type wholeRead struct {
	slot  readSlot
	value value.Value
}

// readSlot is the slot of an input, of a variable or of the failures. There are many of them.
type readSlot struct{ kind, index int32 }

func readOf(s plan.Slot) readSlot { return readSlot{int32(s.Kind), int32(s.Index)} }

func (s readSlot) of() plan.Slot { return plan.Slot{Kind: plan.SlotKind(s.kind), Index: int(s.index)} }

// input returns which input it is; false for a variable.
func (s readSlot) input() (int, bool) { return int(s.index), plan.SlotKind(s.kind) == plan.InputSlot }

// entryRead is an entry of a map and the value it had; nil means none.
type entryRead struct {
	slot  readSlot
	key   string
	value value.Value
}

// wholeReads are names that were read, each once.
type wholeReads []wholeRead

func (h *holder) whole(slot plan.Slot, v value.Value) { h.wholes.add(slot, v) }

func (l *wholeReads) add(slot plan.Slot, v value.Value) {
	if slot.Kind != plan.InputSlot && slot.Kind != plan.VariableSlot && slot.Kind != plan.Failures {
		return
	}
	at := readOf(slot)
	for i := range *l {
		if (*l)[i].slot == at {
			return
		}
	}
	*l = append(*l, wholeRead{slot: at, value: v})
}

func (h *holder) entry(slot plan.Slot, key string, v value.Value) {
	if at := readOf(slot); !h.has(at, key) {
		h.entries = append(h.entries, entryRead{slot: at, key: key, value: v})
	}
}

// entryName names an entry of a map.
type entryName struct {
	slot readSlot
	key  string
}

// fewEntries is up to how many entries are searched one by one.
const fewEntries = 16

// has reports whether an entry was recorded, and notes it where they are many:
// a rule may look up thousands.
func (h *holder) has(slot readSlot, key string) bool {
	if len(h.entries) < fewEntries {
		for i := range h.entries {
			if h.entries[i].key == key && h.entries[i].slot == slot {
				return true
			}
		}
		return false
	}
	if h.known == nil {
		h.known = make(map[entryName]bool, 2*len(h.entries))
		for i := range h.entries {
			e := &h.entries[i]
			h.known[entryName{e.slot, e.key}] = true
		}
	}
	name := entryName{slot, key}
	was := h.known[name]
	h.known[name] = true
	return was
}

func (h *holder) flip(at time.Time) {
	if h.until.IsZero() || at.Before(h.until) {
		h.until = at
	}
}

// refilled returns a list like another, in the memory of an old one where that fits.
func refilled[T any](old, now []T) []T {
	if len(now) == 0 {
		return nil
	}
	if n := cap(old); n < len(now) || n > 2*len(now)+2 {
		return slices.Clone(now)
	}
	out := append(old[:0], now...)
	clear(out[len(out):cap(out)])
	return out
}

// empty makes a holder hold nothing, but keep its memory.
func (h *holder) empty() {
	clear(h.wholes)
	clear(h.entries)
	clear(h.mapped)
	clear(h.recalls)
	*h = holder{wholes: h.wholes[:0], entries: h.entries[:0], mapped: h.mapped[:0], recalls: h.recalls[:0]}
}

// identical reports whether two values are the same one: lists and maps by
// identity, scalars by content.
func identical(a, b value.Value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	switch x := a.(type) {
	case *value.Map:
		y, ok := b.(*value.Map)
		return ok && x == y
	case *value.List:
		y, ok := b.(*value.List)
		return ok && x == y
	case *types.Err: // what reads it fails with its text
		y, ok := b.(*types.Err)
		return ok && x.Error() == y.Error()
	case *types.Optional:
		y, ok := b.(*types.Optional)
		return ok && x.HasValue() == y.HasValue() && (!x.HasValue() || identical(x.GetValue(), y.GetValue()))
	}
	return value.Alike(a, b)
}
