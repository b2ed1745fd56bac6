package policies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/value"
)

// The types of the conditions of a PolicySet. Reconciling, Stalled, Held, Degraded and RestartSafe are
// absent if there is nothing to say: all but RestartSafe are False then.
const (
	conditionReady       = "Ready"
	conditionEnforcing   = "Enforcing"
	conditionAccepted    = "Accepted"
	conditionReconciling = "Reconciling"
	conditionStalled     = "Stalled"
	conditionHeld        = "Held"
	conditionDegraded    = "Degraded"
	conditionRestartSafe = "RestartSafe"
)

// The reasons of Ready, and of each policy.
const (
	reasonEnforcing        = "Enforcing"
	reasonShadow           = "Shadow"
	reasonDisabled         = "Disabled"
	reasonSuspended        = "Suspended"
	reasonProgressing      = "Progressing"
	reasonWaiting          = "Waiting"
	reasonLastGoodEnforced = "LastGoodEnforced"
	reasonNothingEnforced  = "NothingEnforced"
	reasonPaused           = "Paused"
	reasonRolloutStopped   = "RolloutStopped"
	reasonHeld             = "Held"
)

// The reasons of Accepted.
const (
	reasonAccepted      = "Accepted"
	reasonInvalidText   = "InvalidText"
	reasonTestsFail     = "TestsFail"
	reasonInvalidParams = "InvalidParams"
	reasonNotAllowed    = "NotAllowed"
	reasonTooLarge      = "TooLarge"
)

// setCondition is the state of a set from which its conditions are computed.
type setCondition struct {
	generation int64
	mode       edictv1.Mode
	suspended  bool
	// revision is the revision of the active text.
	revision string
	// refused is the reason of Accepted=False, message its message; empty if the set is accepted. note is
	// the message of an accepted set.
	refused, message, note string
	// outdated is the obstacle of an old CRD of PolicySets.
	outdated obstacle
	policies []policyCondition
}

// policyCondition is the state of a policy from which the conditions of its set are computed.
type policyCondition struct {
	name string
	mode edictv1.Mode
	// refused is the reason why its newest text does not run; empty if it may.
	refused string
	// progress is set while it is compiled, tested, loaded or rolled out.
	progress bool
	// waits names the object or kind that it waits for, long reports whether it has waited for waitsLong.
	waits string
	long  bool
	// rolloutStopped and paused are the causes; empty if it is not so.
	rolloutStopped, paused string
	// unsafe is the reason why it would not start again.
	unsafe obstacle
	// active reports whether some text of it runs, held whether all its writes are.
	active, held bool
	// holds are the holds of it, withheld is the number of objects whose writes are.
	holds    []string
	withheld int64
	// failing is the number of objects that fail, fails names one.
	failing int64
	fails   string
	message string
}

// obstacle is the reason why a policy that runs would not start again; empty if it would.
type obstacle struct{ reason, message string }

// reason returns the state of a policy in one word.
func (p *policyCondition) reason(suspended bool) string {
	switch {
	case p.rolloutStopped != "":
		return reasonRolloutStopped
	case p.refused != "" && p.active && p.mode == edictv1.ModeEnforce:
		return reasonLastGoodEnforced
	case p.refused != "":
		return reasonNothingEnforced
	case p.mode == edictv1.ModeDisabled:
		return reasonDisabled
	case p.paused != "":
		return reasonPaused
	case p.waits != "":
		return reasonWaiting
	case p.progress:
		return reasonProgressing
	case suspended:
		return reasonSuspended
	case p.mode == edictv1.ModeShadow:
		return reasonShadow
	default:
		return reasonEnforcing
	}
}

// urgency orders the reasons of policies: that of the set is the first.
var urgency = []string{
	reasonLastGoodEnforced, reasonNothingEnforced, reasonRolloutStopped, reasonPaused, reasonWaiting, reasonProgressing,
	reasonSuspended, reasonEnforcing, reasonShadow, reasonDisabled,
}

// reason returns the reason of Ready, and the policy that it is about; nil if none.
func (c *setCondition) reason() (string, *policyCondition) {
	var first *policyCondition
	worst := len(urgency)
	enforces := false
	for i := range c.policies {
		p := &c.policies[i]
		enforces = enforces || p.active && p.mode == edictv1.ModeEnforce && !c.suspended
		if at := slices.Index(urgency, p.reason(c.suspended)); at < worst {
			first, worst = p, at
		}
	}
	switch {
	case c.refused != "" && (first == nil || first.reason(c.suspended) != reasonRolloutStopped):
		if enforces {
			return reasonLastGoodEnforced, first
		}
		return reasonNothingEnforced, first
	case first == nil && c.mode == edictv1.ModeDisabled:
		return reasonDisabled, nil
	case first == nil:
		return reasonProgressing, nil
	}
	return urgency[worst], first
}

// conditions returns the conditions of a set; before are its present conditions.
func (c *setCondition) conditions(before []metav1.Condition) []metav1.Condition {
	out := slices.Clone(before)
	set := func(kind string, status bool, reason, message string) {
		one := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: value.Cut(message, maxMessage), ObservedGeneration: c.generation}
		if status {
			one.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&out, one)
	}
	setOrRemove := func(kind string, has, status bool, reason, message string) {
		if has {
			set(kind, status, reason, message)
		} else {
			meta.RemoveStatusCondition(&out, kind)
		}
	}
	reason, of := c.reason()
	message := c.readyMessage(reason, of)
	good := slices.Contains([]string{reasonEnforcing, reasonShadow, reasonDisabled, reasonSuspended}, reason)
	set(conditionReady, good, reason, message)
	if c.refused != "" {
		set(conditionAccepted, false, c.refused, c.message)
	} else {
		set(conditionAccepted, true, reasonAccepted, cmp.Or(c.note, "all policies are accepted"))
	}
	moves := reason == reasonProgressing || reason == reasonWaiting && !of.long
	setOrRemove(conditionReconciling, moves, true, reason, message)
	setOrRemove(conditionStalled, !good && !moves, true, reason, message)
	enforcing, why := c.enforcing(reason)
	if enforcing {
		message = "all policies in mode Enforce are enforced"
	}
	set(conditionEnforcing, enforcing, why, message)
	held, holds := c.held()
	setOrRemove(conditionHeld, held, true, reasonHeld, holds)
	failing, fails := c.degraded()
	setOrRemove(conditionDegraded, failing, true, "ObjectsFail", fails)
	unsafe := c.unsafe()
	setOrRemove(conditionRestartSafe, unsafe.reason != "", false, unsafe.reason, unsafe.message)
	return out
}

// maxMessage is the length of a message of a condition, in bytes.
const maxMessage = 4096

func (c *setCondition) readyMessage(reason string, of *policyCondition) string {
	switch reason {
	case reasonLastGoodEnforced:
		return "the last good text is enforced: " + c.message
	case reasonNothingEnforced:
		return "nothing is enforced: " + c.message
	case reasonRolloutStopped:
		return of.name + ": " + of.rolloutStopped
	case reasonPaused:
		return of.name + ": " + of.paused
	case reasonWaiting:
		return of.name + ": " + of.waits
	case reasonProgressing:
		if of == nil {
			return "the text has no policy"
		}
		return of.name + ": " + cmp.Or(of.message, "its text is being loaded")
	case reasonSuspended:
		return "spec.suspend is true: decisions continue, nothing is written"
	case reasonShadow:
		return "decisions are reported, nothing is written: spec.mode is " + string(c.mode)
	case reasonDisabled:
		return "nothing is decided: spec.mode is Disabled"
	default:
		return plural(int64(len(c.policies)), "policy is", "policies are") + " enforced with the text " + c.revision
	}
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// enforcing reports whether all policies in mode Enforce are enforced, and the reason.
func (c *setCondition) enforcing(ready string) (bool, string) {
	enforces := 0
	for i := range c.policies {
		p := &c.policies[i]
		if p.mode != edictv1.ModeEnforce {
			continue
		}
		enforces++
		switch {
		case p.held:
			return false, reasonHeld
		case p.paused != "":
			return false, reasonPaused
		case !p.active:
			return false, ready
		}
	}
	switch {
	case enforces == 0 || c.suspended:
		return false, ready
	case ready == reasonEnforcing, ready == reasonProgressing, ready == reasonWaiting:
		return true, reasonEnforcing
	}
	return ready == reasonLastGoodEnforced, ready
}

// held reports whether a part of the set is held, and describes it.
func (c *setCondition) held() (bool, string) {
	var all []string
	withheld := int64(0)
	for i := range c.policies {
		all = append(all, c.policies[i].holds...)
		withheld += c.policies[i].withheld
	}
	return len(all) > 0, strings.Join(slices.Compact(all), "; ") + "; writes of " + plural(withheld, "object are", "objects are") + " withheld"
}

// degraded reports whether objects fail, and names one.
func (c *setCondition) degraded() (bool, string) {
	n, first := int64(0), ""
	for i := range c.policies {
		p := &c.policies[i]
		n, first = n+p.failing, cmp.Or(first, p.fails)
	}
	return n > 0 || first != "", first
}

// unsafe returns the first reason why the set would not start again.
func (c *setCondition) unsafe() obstacle {
	for i := range c.policies {
		if p := &c.policies[i]; p.unsafe.reason != "" {
			return obstacle{p.unsafe.reason, p.name + ": " + p.unsafe.message}
		}
	}
	return c.outdated
}

// sourceReasons are the reasons of a text that is missing.
var sourceReasons = []string{history.SourceNotFound, history.DigestMismatch}
