package plan

import (
	"github.com/edict-dev/edict/engine/value"
)

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
