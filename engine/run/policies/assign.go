package policies

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

func (s *setState) problem(field, message string) document.Problem {
	return document.Problem{Position: document.Position{File: source.NewSet(s.set).Place(field)}, Severity: document.Error, Message: message}
}

// assign gives changed revisions of the policies of a set to their controllers, which it returns, and
// stops the policies that are not to run any more.
func (r *Reconciler) assign(ctx context.Context, s *setState, starting bool) (changed []*lifecycle.Revision) {
	for _, id := range s.ids(r.policies) {
		now := r.policies.Get(id).Assigned
		rev := r.wanted(s, id)
		if rev == nil {
			if now != nil {
				r.stop(s, id)
			}
			continue
		}
		if now == nil || !rev.Unit.Same(now.Unit) {
			rev = r.withFallback(s, id, rev)
		}
		if err := r.declare(ctx, s, rev); err != nil {
			r.options.Log.Error("the policy does not run yet; it will be tried again", observe.LogPolicy, id, "error", err.Error())
			continue
		}
		if now != nil && now.Plan.Mode != rev.Plan.Mode { // it starts again, as another policy would
			r.runtime.Stop(id)
		}
		if r.policies.Assign(id, rev, starting) {
			changed = append(changed, rev)
			r.tellOrphans(s, id, now, rev)
		}
	}
	return changed
}

// wanted returns the revision of a policy that is to run: that of the text, or if that is refused
// the last one that was active. It returns nil if none is to run.
func (r *Reconciler) wanted(s *setState, id string) *lifecycle.Revision {
	p := r.policies.Get(id)
	newest, now := p.Newest, p.Assigned
	switch {
	case newest != nil && newest.Disabled():
		return nil
	case newest != nil && newest.Good():
		return r.rollouts.stage(s, &newest.Revision, r.lastGood)
	case newest == nil && !s.untold(id):
		return nil
	case newest != nil && (newest.TestsPending || newest.RolloutStopped) && r.mayGoOn(s, now):
		return s.narrowed(now.GoesOn())
	}
	if last := r.lastGood(s, id); last != nil {
		return last
	}
	if r.mayGoOn(s, now) {
		return s.narrowed(now.GoesOn())
	}
	return nil
}

// mayGoOn reports whether a revision runs with the rights that its set has now.
func (r *Reconciler) mayGoOn(s *setState, rev *lifecycle.Revision) bool {
	return rev != nil && rev.GoesOn().Unit.Rights == s.rights(r.closed)
}

// untold reports whether a policy may be in the text although it was not found: the text is missing, or
// has a part with errors.
func (s *setState) untold(id string) bool {
	if s.contents == nil {
		return true
	}
	_, was := s.active[id]
	return was && document.HasErrors(s.contents.Problems)
}

// narrowed returns a revision in a mode no wider than that of its set.
func (s *setState) narrowed(rev *lifecycle.Revision) *lifecycle.Revision {
	mode := source.NewSet(s.set).ModeOf(rev.Unit)
	if mode == string(plan.Disabled) {
		return nil
	}
	if rev.Plan == nil || plan.Mode(mode) == rev.Plan.Mode || rev.Plan.Mode == plan.Shadow {
		return rev
	}
	out, unit, p := *rev, *rev.Unit, *rev.Plan
	unit.Mode, p.Mode = mode, plan.Mode(mode)
	out.Unit, out.Plan = &unit, &p
	return &out
}

// lastGood returns the revision of a policy in the text that was last active, as the set runs it now;
// nil if there is none that may run.
func (r *Reconciler) lastGood(s *setState, id string) *lifecycle.Revision {
	t := history.ByRevision(s.texts, s.active[id])
	if t == nil {
		return nil
	}
	if now := r.policies.Get(id).Assigned; now != nil && now.Staged == nil && now.Unit.TextRevision == t.Revision && r.mayGoOn(s, now) {
		if mode := source.NewSet(s.set).ModeOf(now.Unit); now.Plan != nil && plan.Mode(mode) == now.Plan.Mode { // it runs already
			return now
		}
	}
	if digest := s.set.Spec.Source.Digest; digest != "" && digest != t.Digest() {
		return nil // status gives no rights
	}
	for _, u := range r.contentsOf(s, t.ConfigMap).Units {
		u = u.With(r.options.Params)
		if u.ID() != id || u.Disabled() {
			continue
		}
		v := r.options.Checker.Text(context.Background(), u)
		if v.Good() {
			delete(s.lost, id)
			return &v.Revision
		}
		why := s.contentsText(v.Problems)
		if s.lost[id] != why {
			r.options.Log.Error("the last active text of the policy is no longer valid", observe.LogPolicy, id, observe.LogRevision, t.Revision, "error", why)
		}
		s.lost[id] = why
	}
	return nil
}

func (s *setState) contentsText(problems []document.Problem) string {
	none := &source.Contents{Set: source.NewSet(s.set), ConfigMap: &source.ConfigMap{}}
	return cmp.Or(s.contents, none).ProblemText(problems, document.Error)
}

// wasActive reports whether the text of a policy is the one that was last active.
func (r *Reconciler) wasActive(id string, u *source.Unit) bool {
	name, _ := identity.ParsePolicyID(id)
	s := r.sets[name]
	return s != nil && s.active[id] == u.TextRevision
}

// withFallback adds the last active revision to a new one that is to run, if no revision is active: the
// new one may have to wait, or may not fit the objects.
func (r *Reconciler) withFallback(s *setState, id string, rev *lifecycle.Revision) *lifecycle.Revision {
	if r.policies.Get(id).Report.InForce != "" || rev.Staged != nil || s.active[id] == "" || s.active[id] == rev.Unit.TextRevision {
		return rev
	}
	last := r.lastGood(s, id)
	if last == nil {
		return rev
	}
	out := *rev
	out.Fallback = last
	return &out
}

// stop stops a policy.
func (r *Reconciler) stop(s *setState, id string) {
	p := r.policies.Get(id)
	if p.Newest == nil {
		r.event(s, corev1.EventTypeWarning, "PolicyStopped", fmt.Sprintf("the policy %s no longer runs: it is no longer in the ConfigMap %s", id, s.set.Spec.Source.ConfigMap.Name))
		if s.active[id] != "" {
			s.ended[id] = true
		}
		delete(s.active, id)
	}
	r.runtime.Stop(id)
}

// tellOrphans records Events about the children of an edit that nothing deletes any more. Before is
// nil if nothing was active.
func (r *Reconciler) tellOrphans(s *setState, id string, before, after *lifecycle.Revision) {
	if before == nil || before.Plan == nil || after.Plan == nil {
		return
	}
	for _, orphans := range plan.FindOrphans(before.Plan, after.Plan) {
		r.event(s, corev1.EventTypeWarning, "ChildrenOrphaned", fmt.Sprintf("the policy %s %s", id, orphans))
	}
}
