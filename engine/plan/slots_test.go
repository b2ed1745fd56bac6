package plan

import (
	"fmt"
	"testing"
)

// TestSlots: each name stands for what it was given, and others for nothing.
func TestSlots(t *testing.T) {
	t.Parallel()
	of := map[string]Slot{"": {Index: -1}}
	for i := range 100 {
		of[fmt.Sprintf("variables.%d", i*i*i)] = Slot{Kind: VariableSlot, Index: i}
	}
	slots := NewSlots(of)
	for name, want := range of {
		if got, ok := slots.Of(name); !ok || got != want {
			t.Errorf("%q stands for %v (%v), want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"variables.2", "variables", "a name that is longer than all of the others are"} {
		if got, ok := slots.Of(name); ok {
			t.Errorf("%q stands for %v", name, got)
		}
	}
	if got, ok := new(Slots).Of("object"); ok {
		t.Errorf("without names %v is found", got)
	}
}
