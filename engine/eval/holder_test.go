package eval

import (
	"fmt"
	"testing"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// TestEntries: each entry is recorded once, however many there are, with the
// first value that was read.
func TestEntries(t *testing.T) {
	t.Parallel()
	var h holder
	slots := []plan.Slot{{Kind: plan.InputSlot, Index: 1}, {Kind: plan.InputSlot, Index: 2}, {Kind: plan.VariableSlot, Index: 1}}
	const n = 5000
	for round := range 3 {
		for _, slot := range slots {
			for i := range n {
				h.entry(slot, fmt.Sprint(i), value.OfInt(int64(round)))
			}
		}
	}
	if len(h.entries) != n*len(slots) {
		t.Fatalf("%d entries, want %d", len(h.entries), n*len(slots))
	}
	for _, e := range h.entries {
		if got, _ := value.Int(e.value); got != 0 {
			t.Fatalf("%s has the value of round %d", e.key, got)
		}
	}
}
