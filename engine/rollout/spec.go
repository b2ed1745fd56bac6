package rollout

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
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
	// Digest is a short hash of the annotation.
	Digest string
}

// Stop is when a rollout stops.
type Stop struct {
	// Errors is for how many keys the new revision may fail although the one in force
	// does not.
	Errors int
	// Disagreements is for how many keys it may write otherwise; NoLimit is any number.
	Disagreements int
}

// NoLimit is a number of keys that is never exceeded.
const NoLimit = -1

// Exceeds reports whether there are more keys than a limit allows.
func Exceeds(keys, limit int) bool { return limit != NoLimit && keys > limit }

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

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:12]
}
