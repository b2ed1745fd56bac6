package rollout

import (
	"fmt"
	"strings"
	"time"
)

// State is how far a rollout has come.
type State string

// The states. A rollout that has ended otherwise has no status.
const (
	// Comparing: the new revision decides about nothing, and is compared with the one
	// in force about all keys.
	Comparing State = "Comparing"
	// RollingOut: the new revision decides about the keys of a step.
	RollingOut State = "RollingOut"
	// Stopped: the revision in force decides about all keys again.
	Stopped State = "Stopped"
)

// Status is the progress of the rollout of a policy.
type Status struct {
	Policy string
	// Revision is the new revision, From the one in force.
	Revision string
	From     string
	State    State
	// Step is from 0 to Steps; 0 is Comparing. Share is what the step adds.
	Step  int
	Steps int
	Share string
	// Moved is how many keys the new revision decides about, of Keys.
	Moved int
	Keys  int
	// Errors and Disagreements are for how many keys the new revision fails, or writes
	// otherwise. Undetermined is for how many that cannot be told.
	Errors        int
	Disagreements int
	Undetermined  int
	// Example is the first key that fails or is decided about otherwise, and how.
	Example string
	// Next is when the next step begins; nil if that is not known yet.
	Next *time.Time
	// Waiting is what the next step waits for, Reason why the rollout has stopped.
	Waiting string
	Reason  string
}

// String returns the status in one line, for a person.
func (s *Status) String() string {
	if s.State == Stopped {
		return fmt.Sprintf("%s: the rollout of %s has stopped at step %d of %d: %s", s.Policy, s.Revision, s.Step, s.Steps, s.Reason)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s replaces %s in steps: ", s.Policy, s.Revision, s.From)
	if s.State == Comparing {
		out.WriteString("comparing")
	} else {
		fmt.Fprintf(&out, "step %d of %d (%s)", s.Step, s.Steps, s.Share)
	}
	fmt.Fprintf(&out, ", %d of %d objects, %d errors, %d disagreements", s.Moved, s.Keys, s.Errors, s.Disagreements)
	if s.Undetermined > 0 {
		fmt.Fprintf(&out, ", %d undetermined", s.Undetermined)
	}
	if s.Next != nil {
		out.WriteString(", next step at " + s.Next.UTC().Format(time.RFC3339))
	}
	if s.Waiting != "" {
		out.WriteString(", waiting: " + s.Waiting)
	}
	if s.Example != "" {
		out.WriteString("; for example " + s.Example)
	}
	return out.String()
}
