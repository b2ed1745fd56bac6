package plan

import "github.com/edict-dev/edict/engine/value"

// Slots are what the names of a policy stand for.
type Slots struct {
	// byLength has the names by their length: few have the same, so that a name is found
	// faster than by its hash.
	byLength [][]namedSlot
}

type namedSlot struct {
	name string
	Slot
}

// NewSlots returns what some names stand for.
func NewSlots(of map[string]Slot) (s Slots) {
	for name, slot := range of {
		for len(s.byLength) <= len(name) {
			s.byLength = append(s.byLength, nil)
		}
		s.byLength[len(name)] = append(s.byLength[len(name)], namedSlot{name, slot})
	}
	return s
}

// Of returns what a name stands for; false for one that is not known.
func (s *Slots) Of(name string) (Slot, bool) {
	if len(name) >= len(s.byLength) {
		return Slot{}, false
	}
	list := s.byLength[len(name)]
	for i := range list {
		if list[i].name == name {
			return list[i].Slot, true
		}
	}
	return Slot{}, false
}

// SlotKind says what a name stands for.
type SlotKind int

// The kinds of names.
const (
	Object SlotKind = iota
	KeyName
	KeyNamespace
	Param
	InputSlot
	VariableSlot
	Now
	Initial
	Leaving
	Failures
	CallSlot
)

// Slot is what a name of the policy stands for.
type Slot struct {
	Kind  SlotKind
	Index int
	Value value.Value // of a Param
}
