package rollout

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// Spec is how a new revision comes into force.
type Spec struct {
	Steps []Step
	// Interval is the time from one step to the next.
	Interval time.Duration
	Stop     Stop
}

// Stop is when a rollout stops.
type Stop struct {
	// Errors is for how many keys the new revision may fail although the one in force
	// does not.
	Errors int
	// Disagreements is for how many keys it may write otherwise; NoLimit is any number. With Percent
	// it is a percentage of all keys.
	Disagreements int
	Percent       bool
}

// NoLimit is a number of keys that is never exceeded.
const NoLimit = -1

// Fails reports whether more keys fail than are allowed.
func (s Stop) Fails(errors int) bool { return s.Errors != NoLimit && errors > s.Errors }

// Disagrees reports whether the decisions about more of all keys differ than are allowed.
func (s Stop) Disagrees(keys, all int) bool {
	if s.Percent {
		return s.Disagreements != NoLimit && keys*100 > s.Disagreements*all
	}
	return s.Disagreements != NoLimit && keys > s.Disagreements
}

// String returns the limit of disagreements as a spec has it.
func (s Stop) String() string {
	if s.Percent {
		return strconv.Itoa(s.Disagreements) + "%"
	}
	return strconv.Itoa(s.Disagreements)
}

// Step adds keys to those that the new revision decides about: a share of all, or
// those whose primary object a selector matches.
type Step struct {
	// Percent is from 1 to 100; 0 if the step has a selector.
	Percent  int
	Selector *selector.Selector
}

// String returns the step as it is shown to a person.
func (s Step) String() string {
	if s.Selector != nil {
		return s.Selector.String()
	}
	return strconv.Itoa(s.Percent) + "%"
}

// Share is the steps that a rollout has reached. A key that one of them has is in the
// share, so that a share only grows from step to step.
type Share []Step

// Share returns the first steps of a spec; 0 is an empty share.
func (s *Spec) Share(steps int) Share { return Share(s.Steps[:min(steps, len(s.Steps))]) }

// Selects reports whether a step of the share has a selector.
func (s Share) Selects() bool {
	return slices.ContainsFunc(s, func(one Step) bool { return one.Selector != nil })
}

// Has reports whether a key is in the share. The labels are those of its primary
// object, nil if there is none.
func (s Share) Has(policy, key string, labels value.Value) bool {
	return slices.ContainsFunc(s, func(one Step) bool {
		return one.Selector != nil && labels != nil && one.Selector.Matches(labels) || place(policy, key) < one.Percent
	})
}

// Same reports whether another share has the same steps.
func (s Share) Same(other Share) bool {
	return slices.EqualFunc(s, other, func(a, b Step) bool { return a.String() == b.String() })
}

// places is how many places there are for keys: one per cent of them has each.
const places = 100

// place returns where a key of a policy stands among all keys, from 0 to 99. It is the
// same in every process; each policy has its keys in an order of its own.
func place(policy, key string) int {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s", policy, key))
	return int(binary.BigEndian.Uint64(sum[:8]) % places)
}
