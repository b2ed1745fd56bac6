package lifecycle

import "fmt"

// Phase is how far the newest text of a policy has come. While it is Testing,
// Refused, Loading or Waiting, an earlier revision may be in force.
type Phase string

// The phases.
const (
	// Unknown is the phase of a policy that was never read.
	Unknown Phase = ""
	// Testing: the text compiles, and the tests beside it have not ended.
	Testing Phase = "Testing"
	// Refused: the text must not run, or its controller cannot run it.
	Refused Phase = "Refused"
	// Disabled: the text has the mode Disabled. What is under way is finished.
	Disabled Phase = "Disabled"
	// Loading: the controller of the policy has the revision, and has not reported
	// on it.
	Loading Phase = "Loading"
	// Waiting: a kind or a permission is missing.
	Waiting Phase = "Waiting"
	// RollingOut: the revision comes into force in steps, beside the one in force.
	RollingOut Phase = "RollingOut"
	// Running: the revision is in force.
	Running Phase = "Running"
	// Stopping: the policy is gone, and what is under way is finished.
	Stopping Phase = "Stopping"
	// Stopped: nothing of the policy runs.
	Stopped Phase = "Stopped"
)

// Event is what changes a phase.
type Event string

// The events of the reader of the texts.
const (
	// TestsPending: a new text compiles, and has tests to pass.
	TestsPending Event = "TestsPending"
	// Rejected: the newest text must not run.
	Rejected Event = "Rejected"
	// SwitchedOff: the newest text has the mode Disabled.
	SwitchedOff Event = "SwitchedOff"
	// Assigned: the controller has the newest text.
	Assigned Event = "Assigned"
	// Substituted: the controller has another revision in place of the newest text.
	Substituted Event = "Substituted"
	// Removed: there is no text any more.
	Removed Event = "Removed"
)

// The events of the controller of a policy.
const (
	// Blocked: a kind or a permission is missing.
	Blocked Event = "Blocked"
	// Begun: the assigned revision has begun to come into force in steps.
	Begun Event = "Begun"
	// Activated: the assigned revision is in force.
	Activated Event = "Activated"
	// Failed: the assigned revision cannot run.
	Failed Event = "Failed"
	// Ended: nothing is under way any more.
	Ended Event = "Ended"
)

// newText are the transitions that a text leads to from every phase.
var newText = map[Event]Phase{
	TestsPending: Testing, Rejected: Refused, SwitchedOff: Disabled, Assigned: Loading, Substituted: Loading,
}

// transitions are all others. A phase that follows itself is stated, so that what
// is missing is an error.
var transitions = map[Phase]map[Event]Phase{
	Unknown: {},
	// The controller may have been given an earlier revision.
	Testing:  {Substituted: Testing, Removed: Stopping, Blocked: Testing, Begun: Testing, Activated: Testing, Failed: Testing, Ended: Testing},
	Refused:  {Substituted: Refused, Removed: Stopping, Blocked: Refused, Begun: Refused, Activated: Refused, Failed: Refused, Ended: Refused},
	Disabled: {Removed: Stopping, Blocked: Disabled, Begun: Disabled, Activated: Disabled, Failed: Disabled, Ended: Disabled},
	Loading:  {Removed: Stopping, Blocked: Waiting, Begun: RollingOut, Activated: Running, Failed: Refused},
	Waiting:  {Removed: Stopping, Blocked: Waiting, Begun: RollingOut, Activated: Running, Failed: Refused},
	// The steps end with another assignment.
	RollingOut: {Removed: Stopping},
	Running:    {Removed: Stopping},
	// The controller may be about to report when it is stopped.
	Stopping: {Blocked: Stopping, Begun: Stopping, Activated: Stopping, Failed: Stopping, Ended: Stopped},
	Stopped:  {},
}

// next returns the phase that follows; false if the event is illegal.
func next(from Phase, event Event) (Phase, bool) {
	if to, ok := transitions[from][event]; ok {
		return to, true
	}
	to, ok := newText[event]
	return to, ok
}

// IllegalTransition is an event that the table does not have. It is an error of
// the program.
type IllegalTransition struct {
	ID    string
	From  Phase
	Event Event
}

// Error implements error.
func (e *IllegalTransition) Error() string {
	return fmt.Sprintf("internal error: policy %q in phase %q cannot have the event %s", e.ID, e.From, e.Event)
}
