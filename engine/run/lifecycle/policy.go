package lifecycle

import (
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// Revision is a policy that can run. It never changes.
type Revision struct {
	Unit *source.Unit
	// Plan is nil if the text is not compiled, or must not run.
	Plan *plan.Policy
	// Schemas are the types that it was compiled by, nil for the configured ones.
	Schemas *schema.Set
	// Typed reports whether the plan was compiled by the types of the cluster.
	Typed bool
	// Fallback runs while this revision cannot and no other does; nil is none.
	Fallback *Revision
	// Staged is how it comes into force in steps; nil is at once.
	Staged *Staged
}

// Staged is how a revision comes into force in steps, beside the one in force.
type Staged struct {
	// From is the revision in force.
	From *Revision
	Spec *rollout.Spec
	// Step is the step that it begins with; 0 compares the two only.
	Step int
}

// Base returns the revision in force; nil if there are no steps.
func (s *Staged) Base() *Revision {
	if s == nil {
		return nil
	}
	return s.From
}

// Same reports whether the steps, and what they lead from, are the same.
func (s *Staged) Same(other *Staged) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.From.Unit.Same(other.From.Unit) && rollout.Share(s.Spec.Steps).Same(other.Spec.Steps)
}

// Alone returns the revision without steps and without a fallback.
func (r *Revision) Alone() *Revision {
	out := *r
	out.Staged, out.Fallback = nil, nil
	return &out
}

// GoesOn returns what goes on when the revision is no longer that of its ConfigMap: the
// revision itself or, if it comes into force in steps, the one in force.
func (r *Revision) GoesOn() *Revision {
	if r.Staged != nil {
		return r.Staged.From
	}
	return r
}

// CheckResult is what is known of a text before it runs.
type CheckResult struct {
	Revision
	Problems []document.Problem
	// Tests hashes the tests beside the policy; TestsPending reports that they have
	// not ended, and until then the policy must not run.
	Tests        string
	TestsPending bool
	// Checked is when the text was checked.
	Checked time.Time
	// Compiled reports that the text itself is good: it is refused, if it is, for
	// its tests, for what it did or for a missing allowance, which another check does
	// not change.
	Compiled bool
	// Kept is an estimate of the bytes that the policy holds. TooLarge reports whether it is refused
	// for that.
	Kept     int
	TooLarge bool
	// TestsFailed reports whether it is refused because of its tests, Lacks because of an allowance.
	TestsFailed, Lacks bool
	// RolloutStopped reports that it is refused because its rollout has stopped.
	RolloutStopped bool
	// Recheck is whether the text is to be checked again without an edit.
	Recheck Recheck
}

// Recheck is whether a text is checked again without an edit.
type Recheck int

// The states of another check.
const (
	NotRechecked Recheck = iota
	// RecheckDue: the next look checks it again.
	RecheckDue
	// Rechecked: the check was repeated, with the same result.
	Rechecked
)

// Good reports whether the policy may run.
func (r *CheckResult) Good() bool { return r.Plan != nil && !r.TestsPending }

// Disabled reports whether the policy is not to run.
func (r *CheckResult) Disabled() bool { return r.Unit.Disabled() && len(r.Problems) == 0 }

// event returns what a result means for the phase; "" if it may run, and is
// assigned.
func (r *CheckResult) event() Event {
	switch {
	case r.Good():
		return ""
	case r.Plan != nil:
		return TestsPending
	case r.Disabled():
		return SwitchedOff
	default:
		return Rejected
	}
}

// Report is what the controller of a policy last reported of an assigned revision.
// A new assignment leaves it as it is, until the controller reports again.
type Report struct {
	// Event is Blocked, Begun, Activated or Failed; "" before the first report.
	Event Event
	// InForce is the revision that is in force, "" is none.
	InForce string
	// Reason is what is waited for, or what is wrong.
	Reason string
}

// Policy is the state of one policy at one time.
type Policy struct {
	Phase Phase
	// Generation counts the texts and assignments of all policies. It only grows.
	Generation uint64
	// Newest is the check of the newest text; nil if there is none, or it is not
	// from a ConfigMap.
	Newest *CheckResult
	// Assigned is what the controller was given; nil is none.
	Assigned *Revision
	// Report is what the controller has reported, Since when the revision that is in
	// force came into force.
	Report Report
	Since  time.Time

	// ticket is that of the last assignment, empty when no controller is left.
	ticket Ticket
	// reported is the assignment that Report is about.
	reported uint64
	// stopping reports that the controller was told to stop.
	stopping bool
	// starts reports that the process is not ready before the controller has reported.
	starts bool
}

// RunsNewest reports whether the newest text may run and is in force.
func (p *Policy) RunsNewest() bool {
	return p.Newest != nil && p.Newest.Good() && p.Report.Event == Activated && p.Report.InForce == p.Newest.Unit.Revision()
}

// assignsNewest reports whether a revision is the newest text.
func (p *Policy) assignsNewest(r *Revision) bool {
	return p.Newest == nil || p.Newest.Good() && p.Newest.Unit.Same(r.Unit)
}

// has reports whether the controller has a revision already, and another try would lead to
// the same.
func (p *Policy) has(r *Revision) bool {
	now := p.Assigned
	return now != nil && r.Unit.Same(now.Unit) && r.Staged.Same(now.Staged) && !p.fitsNow(r)
}

// fitsNow reports whether a revision that did not fit the types of the cluster when it was
// assigned does so now: they change without an edit of the text.
func (p *Policy) fitsNow(r *Revision) bool {
	return p.reported == p.ticket.generation && p.Report.Event == Failed && r.Typed && !p.Assigned.Typed
}
