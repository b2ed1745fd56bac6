package policies

import (
	"context"
	"log/slog"
	"slices"

	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// rollouts decides which revisions come into force in steps, when the next step begins
// and when a rollout stops. How far each has come is kept in the status annotation, so
// that the next leader continues.
type rollouts struct {
	options rolloutOptions
	// active are the rollouts that have not ended, and those that have stopped, by
	// policy.
	active map[string]*activeRollout
	// left are those that another process left.
	left map[leftRollout]rollout.Status
	news []rolloutNews
	// begun are the policies and revisions of which a step has begun.
	begun map[[2]string]bool
}

// rolloutOptions are what rollouts need.
type rolloutOptions struct {
	policies  *lifecycle.Registry
	history   *historyStore
	steps     stepper
	brakes    func(policy string) *brake.State
	client    kubernetes.Interface
	namespace string
	log       *slog.Logger
}

// stepper runs what is rolled out.
type stepper interface {
	// Rollout returns how far the rollout of a policy has come; false if none is under
	// way.
	Rollout(id string) (reconcile.RolloutReport, bool)
	// Advance gives a revision that is rolled out its share of the keys.
	Advance(id, revision string, share rollout.Share)
	// WritesStopped returns why a policy writes nothing; "" is that it does.
	WritesStopped(id string) string
}

// activeRollout is the rollout of a revision.
type activeRollout struct {
	status rollout.Status
	spec   *rollout.Spec
	// from is the revision in force.
	from *lifecycle.Revision
	// configMap is the ConfigMap of the policy.
	configMap *source.ConfigMap
	// finished reports that the last step is over.
	finished bool
	shown    shown
}

// leftRollout names a rollout that another process left. Only the annotation of the
// policy's own ConfigMap says how far it has come: who may write another one has no say.
type leftRollout struct{ configMap, policy string }

// rolloutNews is a step that has begun.
type rolloutNews struct{ configMap, text string }

func newRollouts(o rolloutOptions) *rollouts {
	return &rollouts{options: o, active: map[string]*activeRollout{}, left: map[leftRollout]rollout.Status{}, begun: map[[2]string]bool{}}
}

// stage returns a revision as it is to come into force: in steps if its ConfigMap has
// some and another revision is in force, or was when this process started. A rollback
// has no steps, because it must be a way out of everything that stops them.
func (r *rollouts) stage(rev *lifecycle.Revision, c *source.Catalog, starting bool) *lifecycle.Revision {
	id := rev.Unit.ID()
	if r == nil || id != rev.Unit.Name() { // in Shadow mode it writes nothing
		return rev
	}
	origin := c.Origins[id]
	if origin == nil || origin.Rollout == nil {
		r.end(id, "the annotation "+v1alpha1.AnnotationRollout+" was removed")
		return rev
	}
	p := r.options.policies.Get(id)
	if p.Report.InForce == rev.Unit.Revision() {
		r.end(id, "")
		return rev
	}
	if r.options.history.rollsBack(rev.Unit, c) {
		r.end(id, "the policy is rolled back to a revision that was in force before")
		return rev
	}
	now := r.active[id]
	if now != nil && (now.status.Revision != rev.Unit.Revision() || !rollout.Share(now.spec.Steps).Same(origin.Rollout.Steps)) {
		r.end(id, "the text or the steps have changed")
		now = nil
	}
	if now == nil {
		if now = r.begin(id, rev, &p, origin, starting); now == nil {
			return rev
		}
	}
	now.spec, now.configMap, now.status.Digest = origin.Rollout, origin.ConfigMap, origin.Rollout.Digest
	if now.finished {
		return rev
	}
	out := *rev
	out.Staged, out.Fallback = &lifecycle.Staged{From: now.from, Spec: now.spec, Step: now.status.Step}, now.from
	return &out
}

// confirm has the history look at what is still kept of the policies whose newest texts
// would have no steps because they were in force before.
func (r *rollouts) confirm(ctx context.Context, c *source.Catalog) {
	for _, id := range r.options.policies.Checked() {
		p, origin := r.options.policies.Get(id), c.Origins[id]
		u := p.Newest.Unit
		if !p.Newest.Good() || id != u.Name() || origin == nil || origin.Rollout == nil || p.Report.InForce == u.Revision() {
			continue
		}
		if r.options.history.rollsBack(u, c) {
			r.options.history.confirm(ctx, id)
		}
	}
}

// begin begins a rollout, or continues one that another process left; nil if there is
// no other revision from which steps could lead.
func (r *rollouts) begin(id string, rev *lifecycle.Revision, p *lifecycle.Policy, origin *source.Contents, starting bool) *activeRollout {
	from := r.from(id, rev, p, starting)
	if from == nil {
		return nil
	}
	now := &activeRollout{spec: origin.Rollout, from: from, status: rollout.Status{
		Policy: id, Revision: rev.Unit.Revision(), From: from.Unit.Revision(), State: rollout.Comparing, Steps: len(origin.Rollout.Steps), Digest: origin.Rollout.Digest,
	}}
	if left := r.take(leftRollout{origin.ConfigMap.Path(), id}, &now.status); left != nil && left.State != rollout.Stopped {
		now.status.State, now.status.Step, now.status.Share, now.status.Next = left.State, left.Step, left.Share, left.Next
	}
	r.active[id] = now
	r.options.log.Info("a revision is rolled out", observe.LogPolicy, id, observe.LogRevision, now.status.Revision, "from", now.status.From, "step", now.status.Step, "steps", now.status.Steps)
	return now
}

// take returns how far another process has come with a rollout; nil if it was another
// one.
func (r *rollouts) take(of leftRollout, now *rollout.Status) *rollout.Status {
	left, ok := r.left[of]
	delete(r.left, of)
	if !ok || left.Revision != now.Revision || left.From != now.From || left.Digest != now.Digest || left.Step > now.Steps {
		return nil
	}
	return &left
}

// from returns the revision from which the steps to another one lead: that in force, or
// when this process has just started the last good one.
func (r *rollouts) from(id string, rev *lifecycle.Revision, p *lifecycle.Policy, starting bool) *lifecycle.Revision {
	inForce := p.Report.InForce
	if good := r.options.history.good(id); inForce == "" && good != nil && (starting || p.Report.Event == "" && p.Assigned != nil && p.Assigned.Unit.Revision() == good.Revision) {
		inForce = good.Revision // it is about to run
	}
	if inForce == "" || inForce == rev.Unit.Revision() {
		return nil
	}
	known := []func() *lifecycle.Revision{func() *lifecycle.Revision { return r.options.history.lastGood(id) }}
	if now := p.Assigned; now != nil {
		known = slices.Insert(known, 0, func() *lifecycle.Revision { return now }, now.Staged.Base, func() *lifecycle.Revision { return now.Fallback })
	}
	for _, of := range known {
		if one := of(); one != nil && one.Unit.Revision() == inForce {
			return one.Alone()
		}
	}
	r.options.log.Error("a revision comes into force at once and not in steps, because the one in force is not kept", observe.LogPolicy, id, observe.LogRevision, rev.Unit.Revision(), "inForce", inForce)
	return nil
}

// end forgets a rollout. Why is "" if it has come to its end.
func (r *rollouts) end(id, why string) {
	if now := r.active[id]; now != nil && why != "" && !now.finished {
		r.options.log.Info("the rollout of a revision ends", observe.LogPolicy, id, observe.LogRevision, now.status.Revision, "step", now.status.Step, "reason", why)
	}
	delete(r.active, id)
}

// stepped reports whether a step of the rollout of a revision has begun, so that it was
// in force for some objects.
func (r *rollouts) stepped(id, revision string) bool { return r.begun[[2]string{id, revision}] }
