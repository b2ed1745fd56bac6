package rollout

import (
	"encoding/json"
	"fmt"
	"slices"
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

// Status is how far the rollout of a policy has come, as the annotation
// edict.dev/rollout-status has it. Another process that becomes the leader continues
// from it.
type Status struct {
	Policy string `json:"policy"`
	// Revision is the new revision, From the one in force.
	Revision string `json:"revision"`
	From     string `json:"from"`
	State    State  `json:"state"`
	// Step is from 0 to Steps; 0 is Comparing. Share is what the step adds.
	Step  int    `json:"step"`
	Steps int    `json:"steps"`
	Share string `json:"share,omitempty"`
	// Moved is how many keys the new revision decides about, of Keys.
	Moved int `json:"moved"`
	Keys  int `json:"keys"`
	// Errors and Disagreements are for how many keys the new revision fails, or writes
	// otherwise. Undetermined is for how many that cannot be told.
	Errors        int `json:"errors"`
	Disagreements int `json:"disagreements"`
	Undetermined  int `json:"undetermined,omitempty"`
	// Example is the first key that fails or is decided about otherwise, and how.
	Example string `json:"example,omitempty"`
	// Next is when the next step begins; nil if that is not known yet.
	Next *time.Time `json:"next,omitempty"`
	// Waiting is what the next step waits for, Reason why the rollout has stopped.
	Waiting string `json:"waiting,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Digest is that of the annotation with the steps.
	Digest string `json:"digest"`
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

// Format writes the status of some rollouts into an annotation; "" if there is none.
func Format(list []Status) string {
	if len(list) == 0 {
		return ""
	}
	text, err := json.Marshal(list)
	if err != nil { // it is plain data
		return ""
	}
	return string(text)
}

// ParseStatus reads what Format wrote. Somebody else may have written the annotation: a
// step that there is not would be taken over by the next leader.
func ParseStatus(text string) (out []Status, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("the status of the rollouts cannot be read: %w", err)
	}
	for i := range out {
		if err := out[i].valid(); err != nil {
			return nil, fmt.Errorf("the status of the rollouts cannot be read: %s: %w", out[i].Policy, err)
		}
	}
	return out, nil
}

// valid returns an error for a status that no rollout can have.
func (s *Status) valid() error {
	switch {
	case !slices.Contains([]State{Comparing, RollingOut, Stopped}, s.State):
		return fmt.Errorf("there is no state %q", s.State)
	case s.Step < 0 || s.Step > s.Steps:
		return fmt.Errorf("there is no step %d of %d", s.Step, s.Steps)
	}
	return nil
}
