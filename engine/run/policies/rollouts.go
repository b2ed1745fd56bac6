package policies

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

// rollouts decides which revisions come into force in steps, when the next step begins
// and when a rollout stops. The status has the step of each, so that the next leader
// continues.
type rollouts struct {
	policies *lifecycle.Registry
	steps    stepper
	brakes   func(policy string) *brake.State
	log      *slog.Logger
	// active are the rollouts that have not ended, and those that have stopped, by
	// policy.
	active map[string]*activeRollout
	// left are the rollouts that another process left, by policy.
	left map[string]leftRollout
}

// stepper runs what is rolled out.
type stepper interface {
	// Rollout returns how far the rollout of a policy has come; false if none is under
	// way.
	Rollout(id string) (reconcile.RolloutReport, bool)
	// Advance gives a revision that is rolled out its share of the keys.
	Advance(id, revision string, share rollout.Share)
	// WritesStopped returns why a policy does not write; empty if it does.
	WritesStopped(id string) string
}

// activeRollout is the rollout of a revision.
type activeRollout struct {
	status rollout.Status
	spec   *rollout.Spec
	// text is the revision of its text, since when its step began.
	text  string
	since time.Time
	// from is the active revision.
	from *lifecycle.Revision
	// generation is the generation of the set when it stopped.
	generation int64
	// finished reports that the last step is over.
	finished bool
}

// leftRollout is a rollout that another process left: its text, how far it had come, and why it had
// stopped at a generation of the set.
type leftRollout struct {
	text       string
	status     edictv1.RolloutStatus
	stopped    string
	generation int64
}

// restore takes over the rollout of a policy that another process left.
func (r *rollouts) restore(id string, p *edictv1.PolicyStatus, generation int64) {
	switch {
	case p.Rollout != nil:
		r.left[id] = leftRollout{text: p.Rollout.Revision, status: *p.Rollout}
	case p.Reason == reasonRolloutStopped:
		r.left[id] = leftRollout{text: p.Revision, stopped: cmp.Or(p.Message, "another process has stopped it"), generation: generation}
	}
}

// stage returns a revision as it is to become active: in steps if its set has
// some and another revision is active, or was when this process started. A text that was active
// before has no steps, because it must be a way out of everything that stops them.
func (r *rollouts) stage(s *setState, rev *lifecycle.Revision, lastGood func(*setState, string) *lifecycle.Revision) *lifecycle.Revision {
	id, p := rev.Unit.ID(), r.policies.Get(rev.Unit.ID())
	if done, why := r.atOnce(s, rev, &p); done {
		r.end(id, why)
		return rev
	}
	spec, now := s.contents.Rollout, r.active[id]
	if now != nil && now.differs(rev, s) {
		r.end(id, "the text or the steps have changed")
		now = nil
	}
	if now == nil {
		if now = r.begin(s, rev, &p, lastGood); now == nil {
			return rev
		}
	}
	now.spec = spec
	switch {
	case now.finished:
		return rev
	case now.status.State == rollout.Stopped:
		r.refuse(now)
		return now.from
	}
	out := *rev
	out.Staged, out.Fallback = &lifecycle.Staged{From: now.from, Spec: spec, Step: now.status.Step}, now.from
	return &out
}

// atOnce reports whether a revision becomes active without steps, and the reason.
func (r *rollouts) atOnce(s *setState, rev *lifecycle.Revision, p *lifecycle.Policy) (bool, string) {
	id := rev.Unit.ID()
	if s.contents.Rollout == nil || rev.Plan.Mode != plan.Enforce {
		return true, "the set has no rollout"
	}
	if p.Report.InForce == rev.Unit.Revision() {
		return true, ""
	}
	t := history.ByRevision(s.texts, rev.Unit.TextRevision)
	return t != nil && !t.Active.IsZero() && s.active[id] != t.Revision, "the text was active before"
}

// differs reports whether a rollout is of another revision, or has other steps, than a set has now.
func (a *activeRollout) differs(rev *lifecycle.Revision, s *setState) bool {
	return a.status.Revision != rev.Unit.Revision() || !rollout.Share(a.spec.Steps).Same(s.contents.Rollout.Steps) ||
		a.status.State == rollout.Stopped && a.generation != s.set.Generation
}

// begin begins a rollout, or continues one that another process left; nil if there is
// no other revision from which steps could lead.
func (r *rollouts) begin(s *setState, rev *lifecycle.Revision, p *lifecycle.Policy, lastGood func(*setState, string) *lifecycle.Revision) *activeRollout {
	id := rev.Unit.ID()
	from := r.from(s, rev, p, lastGood)
	if from == nil {
		return nil
	}
	now := &activeRollout{spec: s.contents.Rollout, from: from, text: rev.Unit.TextRevision, since: time.Now(), generation: s.set.Generation, status: rollout.Status{
		Policy: id, Revision: rev.Unit.Revision(), From: from.Unit.Revision(), State: rollout.Comparing, Steps: len(s.contents.Rollout.Steps),
	}}
	switch left := r.left[id]; {
	case left.text != now.text:
	case left.stopped != "" && left.generation == s.set.Generation:
		now.status.State, now.status.Reason = rollout.Stopped, left.stopped
	case int(left.status.Steps) == now.status.Steps && left.status.Step > 0:
		now.status.State, now.status.Step = rollout.RollingOut, min(int(left.status.Step), now.status.Steps)
		now.status.Share = now.spec.Steps[now.status.Step-1].String()
		if left.status.Since != nil {
			now.since = left.status.Since.Time
		}
	}
	delete(r.left, id)
	r.active[id] = now
	r.log.Info("a revision is rolled out", observe.LogPolicy, id, observe.LogRevision, now.status.Revision, "from", now.status.From, "step", now.status.Step, "steps", now.status.Steps)
	return now
}

// from returns the revision from which the steps to another one lead: the active one, or
// if none runs yet the last active one.
func (r *rollouts) from(s *setState, rev *lifecycle.Revision, p *lifecycle.Policy, lastGood func(*setState, string) *lifecycle.Revision) *lifecycle.Revision {
	if now := p.Assigned; now != nil && p.Report.InForce != "" {
		for _, one := range []*lifecycle.Revision{now, now.Staged.Base(), now.Fallback} {
			if one != nil && one.Unit.Revision() == p.Report.InForce && one.Unit.Revision() != rev.Unit.Revision() {
				return one.Alone()
			}
		}
	}
	last := lastGood(s, rev.Unit.ID())
	if last == nil || last.Unit.Revision() == rev.Unit.Revision() {
		return nil
	}
	return last.Alone()
}

// end forgets a rollout. Why is empty if it has come to its end.
func (r *rollouts) end(id, why string) {
	if now := r.active[id]; now != nil && why != "" && !now.finished {
		r.log.Info("the rollout of a revision ends", observe.LogPolicy, id, observe.LogRevision, now.status.Revision, "step", now.status.Step, "reason", why)
	}
	delete(r.active, id)
}

// statusOf returns the progress of the rollout of a policy; nil if there is none.
func (r *rollouts) statusOf(id string) *edictv1.RolloutStatus {
	now := r.active[id]
	if left, ok := r.left[id]; ok && now == nil && left.stopped == "" {
		return &left.status // its text is not checked yet
	}
	if now == nil || now.finished || now.status.State == rollout.Stopped {
		return nil
	}
	out := &edictv1.RolloutStatus{Revision: now.text, Step: int32(now.status.Step), Steps: int32(now.status.Steps)}
	if now.status.Step > 0 {
		out.Since = &metav1.Time{Time: now.since.UTC().Truncate(time.Second)}
	}
	return out
}

// check begins the steps of a set that are due, each after store has stored it, and stops the rollouts
// that exceed their limits.
func (r *rollouts) check(s *setState, at time.Time, store func() error) {
	for _, id := range s.ids(r.policies) {
		one := r.active[id]
		if one == nil || one.finished || one.status.State == rollout.Stopped {
			continue
		}
		report, ok := r.steps.Rollout(id)
		if !ok || report.Revision != one.status.Revision || r.policies.Get(id).Phase != lifecycle.RollingOut {
			continue // it waits for a kind, or has stopped
		}
		r.step(s, one, &report, at, store)
	}
}

// step updates the status of one rollout, and stops it or begins its next step if that is due.
func (r *rollouts) step(s *setState, one *activeRollout, report *reconcile.RolloutReport, at time.Time, store func() error) {
	one.count(report)
	if reason := one.exceeded(report); reason != "" {
		one.status.State, one.status.Reason, one.status.Next, one.status.Waiting = rollout.Stopped, reason, nil, ""
		one.generation = s.set.Generation
		r.refuse(one)
		return
	}
	one.status.Waiting = r.waits(one.status.Policy)
	switch {
	case one.status.Waiting != "":
		one.status.Next = nil
	case report.Todo > 0:
		one.status.Waiting = "not all of its objects are decided about yet"
	default:
		if one.status.Next == nil {
			one.status.Next = one.due(at)
		}
		if !at.Before(*one.status.Next) {
			r.advance(one, at, store)
		}
	}
}

func (a *activeRollout) count(report *reconcile.RolloutReport) {
	a.status.Moved, a.status.Keys = report.Moved, report.Keys
	a.status.Errors, a.status.Disagreements, a.status.Undetermined = report.Errors, report.Disagreements, report.Undetermined
	a.status.Example = cmp.Or(report.Failing, report.Differing)
}

// due returns when the next step begins that was not begun before: the first when all
// keys are compared.
func (a *activeRollout) due(at time.Time) *time.Time {
	if a.status.Step > 0 {
		at = at.Add(a.spec.Interval)
	}
	at = at.UTC()
	return &at
}

// exceeded returns why the rollout stops; empty if it does not.
func (a *activeRollout) exceeded(report *reconcile.RolloutReport) string {
	stop := a.spec.Stop
	switch {
	case stop.Fails(report.Errors):
		return fmt.Sprintf("%d of %d objects fail under %s and not under %s, more than %d; the first is %s", report.Errors, report.Keys, a.status.Revision, a.status.From, stop.Errors, report.Failing)
	case stop.Disagrees(report.Disagreements, report.Keys):
		return fmt.Sprintf("%s decides otherwise than %s about %d of %d objects, more than %s; the first is %s", a.status.Revision, a.status.From, report.Disagreements, report.Keys, stop, report.Differing)
	default:
		return ""
	}
}

// waits returns why no further step of a policy begins; empty if nothing. What is
// suspended says nothing about a step.
func (r *rollouts) waits(id string) string {
	if why := r.steps.WritesStopped(id); why != "" {
		return "writes are stopped: " + why
	}
	state := r.brakes(id)
	if state == nil {
		return ""
	}
	if len(state.Pauses) > 0 {
		return "the policy is paused"
	}
	for i := range state.Holds {
		if h := &state.Holds[i]; h.Key == "" {
			return h.String() + " is held"
		}
	}
	return ""
}

// advance begins the next step, or ends the rollout after the last one. The step is
// stored before it begins, so that the next leader does not fall behind it.
func (r *rollouts) advance(one *activeRollout, at time.Time, store func() error) {
	if one.status.Step == len(one.spec.Steps) {
		one.finished = true
		r.log.Info("the last step of a rollout is over", observe.LogPolicy, one.status.Policy, observe.LogRevision, one.status.Revision)
		return
	}
	before, since := one.status, one.since
	one.status.Step++
	one.since = at
	one.status.State, one.status.Share, one.status.Next = rollout.RollingOut, one.spec.Steps[one.status.Step-1].String(), nil
	if err := store(); err != nil {
		one.status, one.since = before, since
		r.log.Error("a step of a rollout cannot be stored, and does not begin; it will be tried again", observe.LogPolicy, one.status.Policy, observe.LogRevision, one.status.Revision, "error", err.Error())
		return
	}
	r.steps.Advance(one.status.Policy, one.status.Revision, one.spec.Share(one.status.Step))
	r.log.Info("a step of a rollout begins", observe.LogPolicy, one.status.Policy, observe.LogRevision, one.status.Revision, "step", one.status.Step, "steps", one.status.Steps, "share", one.status.Share)
}

// refuse gives all keys back to the active revision: the text is refused until it, or
// the set, changes.
func (r *rollouts) refuse(one *activeRollout) {
	v := r.policies.Get(one.status.Policy).Newest
	if v == nil || v.RolloutStopped {
		return
	}
	r.log.Error("a rollout stops", observe.LogPolicy, one.status.Policy, observe.LogRevision, one.status.Revision, "step", one.status.Step, "reason", one.status.Reason, "inForce", one.status.From)
	now := *v
	now.Plan, now.Compiled, now.RolloutStopped = nil, true, true
	now.Problems = append(slices.Clone(v.Problems), document.Problem{
		Position: v.Unit.Document.Pos, Severity: document.Error, Message: "the rollout has stopped: " + one.status.Reason,
		Hint: fmt.Sprintf("%s decides about all objects again; correct the text or the params, or take the text back with source.digest; a change of the set begins the rollout anew", one.status.From),
	})
	r.policies.Check(one.status.Policy, &now)
	observe.Reloads.WithLabelValues(one.status.Policy, "rolled back").Inc()
}

// retry has the texts of a set checked again whose rollouts have stopped if the set has changed since.
func (r *rollouts) retry(s *setState) {
	for _, id := range s.ids(r.policies) {
		now := r.active[id]
		if now == nil || now.status.State != rollout.Stopped {
			continue
		}
		newest := r.policies.Get(id).Newest
		if now.generation != s.set.Generation || newest == nil || newest.Unit.Revision() != now.status.Revision {
			r.policies.Recheck(id)
			r.end(id, "the set or the text has changed")
		}
	}
}
