package plan

import (
	"fmt"
	"time"
)

// Limits bound how much a policy writes. Without a limit of its own the
// installation's default counts.
type Limits struct {
	// Changes bounds all writes, Removals those that take something away.
	Changes, Removals *Limit
}

// Limit bounds what may happen within a window of time.
type Limit struct {
	// PerWindow is how often it may happen within Window; with PerCentOf it is a
	// percentage.
	PerWindow int64
	Window    time.Duration
	// PerCentOf is what PerWindow is a percentage of: ObjectsOfPolicy, or the name
	// of an input; "" makes PerWindow a number.
	PerCentOf string
	// Input is the index of the input that PerCentOf names, -1 for none.
	Input int
	// AtLeast is the lowest that a percentage comes to.
	AtLeast int64
}

// ObjectsOfPolicy is the Limit.PerCentOf of the objects that a policy decides
// about.
const ObjectsOfPolicy = "objects"

// Value returns the number that the limit comes to. size returns how many objects
// an input has, or for -1 the policy.
func (l *Limit) Value(size func(input int) int) int64 {
	if l.PerCentOf == "" {
		return l.PerWindow
	}
	return max(l.AtLeast, l.PerWindow*int64(size(l.Input))/100)
}

// String returns the limit as the flags of edict run take it.
func (l *Limit) String() string {
	if l.PerCentOf == "" {
		return fmt.Sprintf("%d per %s", l.PerWindow, l.Window)
	}
	return fmt.Sprintf("%d%% or %d per %s", l.PerWindow, l.AtLeast, l.Window)
}
