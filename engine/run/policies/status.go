package policies

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

const (
	// countInterval is the shortest interval between writes of a status in which only numbers changed.
	countInterval = 15 * time.Second
	// waitsLong is how long a policy may wait before its set is stalled.
	waitsLong = 15 * time.Minute
)

// status returns the present status of a set.
func (r *Reconciler) status(s *setState, now time.Time) *edictv1.PolicySetStatus {
	set := source.NewSet(s.set)
	c := setCondition{generation: s.set.Generation, mode: set.Mode(), suspended: set.Suspended(), note: cmp.Or(s.choice.Message, s.overlap)}
	if r.outdated.Load() {
		c.outdated = obstacle{"CRDOutdated", outdatedMessage}
	}
	out := s.set.Status.DeepCopy()
	out.Policies, out.Objects, out.Failing, out.Withheld = nil, new(int64), new(int64), new(int64)
	var found source.Findings
	out.Finalizers = s.finalizers.Status()
	if s.deleted {
		c.policies = append(c.policies, r.deletion(s, now))
	}
	for _, id := range s.ids(r.policies) {
		p := r.policies.Get(id)
		if s.deleted {
			break
		}
		one := r.condition(s, id, &p, now)
		if p.Newest == nil && !one.active && s.active[id] == "" {
			continue
		}
		if p.Newest != nil && one.refused != "" {
			found.Add(p.Newest.Unit, p.Newest.Problems)
		}
		c.policies = append(c.policies, one)
		ps := r.policyStatus(s, id, &p, &one, set.Suspended())
		*out.Objects, *out.Failing, *out.Withheld = *out.Objects+*ps.Objects, *out.Failing+*ps.Failing, *out.Withheld+*ps.Withheld
		if len(out.Policies) < maxPolicies {
			out.Policies = append(out.Policies, ps)
		}
	}
	c.refused, c.message = r.refusal(s, c.policies, &found)
	out.ObservedGeneration, out.ControllerVersion = s.set.Generation, r.options.Version
	out.Source = &edictv1.ObservedSource{Name: s.set.Spec.Source.ConfigMap.Name}
	if s.source != nil {
		out.Source.ResourceVersion, out.Source.Digest = s.source.ResourceVersion, s.source.Digest()
	}
	out.Revision = r.revision(s)
	c.revision = out.Revision
	out.Conditions = c.conditions(s.set.Status.Conditions)
	return out
}

// maxPolicies bounds the list of policies.
const maxPolicies = 256

// revision returns the revision of the active text: the chosen one once all its policies run, until
// then the one before.
func (r *Reconciler) revision(s *setState) string {
	counts := map[string]int{}
	for _, revision := range s.active {
		counts[revision]++
	}
	if s.contents != nil && counts[source.Revision(s.contents.Digest())] > 0 {
		return source.Revision(s.contents.Digest())
	}
	if counts[s.set.Status.Revision] > 0 || len(counts) == 0 {
		return s.set.Status.Revision
	}
	best := ""
	for revision, n := range counts {
		if n > counts[best] || n == counts[best] && revision < best {
			best = revision
		}
	}
	return best
}

// refusal returns the reason and the message of Accepted=False; empty if the set is accepted.
func (r *Reconciler) refusal(s *setState, policies []policyCondition, found *source.Findings) (reason, message string) {
	if slices.Contains(sourceReasons, s.choice.Reason) {
		return s.choice.Reason, s.choice.Message
	}
	var all []document.Problem
	if s.contents != nil {
		all = s.contents.Problems
		if document.HasErrors(all) {
			reason = reasonInvalidText
		}
	}
	if s.contents != nil && reason == "" && len(s.contents.Units) == 0 {
		return reasonInvalidText, fmt.Sprintf("the ConfigMap %s has no policy: write one to a key that ends in .yaml", s.contents.Name)
	}
	for i := range policies {
		if p := &policies[i]; p.refused != "" && p.refused != reasonRolloutStopped {
			reason = cmp.Or(reason, p.refused)
			message = cmp.Or(message, p.message)
		}
	}
	if reason == "" {
		return "", ""
	}
	if text := s.contentsText(append(slices.Clip(all), found.List()...)); text != "" {
		message = text
	}
	for _, id := range s.ids(r.policies) {
		if why := s.lost[id]; why != "" && r.policies.Get(id).Assigned == nil {
			message += "\nthe last good text of " + id + " is no longer valid: " + why
		}
	}
	return reason, message
}

// condition returns the state of a policy.
func (r *Reconciler) condition(s *setState, id string, p *lifecycle.Policy, now time.Time) policyCondition {
	_, name := identity.ParsePolicyID(id)
	c := policyCondition{name: name, mode: edictv1.ModeEnforce, active: p.Report.InForce != ""}
	if v := p.Newest; v != nil {
		c.mode = edictv1.Mode(source.NewSet(s.set).ModeOf(v.Unit))
		c.judge(v, s.contentsText)
	}
	if runs := p.Assigned; runs != nil && runs.Plan != nil && (p.Newest == nil || !p.Newest.Good()) {
		c.mode = edictv1.Mode(runs.Plan.Mode)
	}
	if c.refused == "" && c.mode != edictv1.ModeDisabled {
		r.follows(id, p, &c)
	}
	r.noteWait(s, id, &c, now)
	if d := r.runtime.Degraded(id); d != nil {
		c.fails, c.failing = name+": "+d.Text, d.Objects
	}
	if c.active {
		c.unsafe = s.obstacles[id]
	}
	r.brakeCondition(id, &c)
	c.message = cmp.Or(c.message, r.runtime.Unselected(id))
	return c
}

// judge adds the judgement of the newest text.
func (c *policyCondition) judge(v *lifecycle.CheckResult, text func([]document.Problem) string) {
	switch {
	case v.RolloutStopped:
		c.rolloutStopped = text(v.Problems)
	case v.TestsPending:
		c.progress, c.message = true, "its tests are running"
	case !v.Good() && !v.Disabled():
		c.refused = refusedFor(v)
	}
}

// follows adds what the controller of a policy has reported of an accepted text.
func (r *Reconciler) follows(id string, p *lifecycle.Policy, c *policyCondition) {
	switch {
	case p.Report.Event == lifecycle.Failed:
		c.refused, c.message = reasonInvalidText, c.name+": "+p.Report.Reason
	case p.Report.Event == lifecycle.Blocked && p.Phase != lifecycle.Loading:
		c.waits = p.Report.Reason
	case p.Phase == lifecycle.RollingOut:
		c.progress = true
		if one := r.rollouts.active[id]; one != nil {
			c.message = one.status.String()
		}
	case p.Newest != nil && p.Newest.Good() && !p.RunsNewest():
		c.progress = true
	}
}

// noteWait notes since when a policy waits.
func (r *Reconciler) noteWait(s *setState, id string, c *policyCondition, now time.Time) {
	if c.waits == "" {
		delete(s.waits, id)
		return
	}
	if s.waits[id].IsZero() {
		s.waits[id] = now
		if ready := meta.FindStatusCondition(s.set.Status.Conditions, conditionReady); ready != nil && ready.Reason == reasonWaiting {
			s.waits[id] = ready.LastTransitionTime.Time
		}
	}
	c.long = now.Sub(s.waits[id]) >= waitsLong
}

// brakeCondition adds what the brakes do about a policy.
func (r *Reconciler) brakeCondition(id string, c *policyCondition) {
	state := r.runtime.Brakes().State(id)
	if state == nil {
		return
	}
	for i := range state.Pauses {
		c.paused = cmp.Or(c.paused, state.Pauses[i].Text())
	}
	for i := range state.Holds {
		h := &state.Holds[i]
		if h.Name == suspension {
			continue
		}
		c.held = c.held || h.Rule == "" && h.Key == ""
		c.holds = append(c.holds, fmt.Sprintf("%s: %s is held until %s: %s", h.Name, h.String(), h.Until.UTC().Format(time.RFC3339), h.Reason))
	}
	for _, n := range state.Kept {
		c.withheld += int64(n)
	}
	if paced := len(state.Paced); paced > 0 {
		c.failing += int64(paced)
		c.fails = cmp.Or(c.fails, "at its pace for ten minutes, such as: "+state.Paced[0].String())
	}
	if uncertain := state.Kept[brake.Uncertain]; uncertain > 0 {
		c.fails = cmp.Or(c.fails, fmt.Sprintf("nothing is removed, because what it reads may be out of date: that concerns %s", plural(int64(uncertain), "object", "objects")))
	}
}

// refusedFor returns the reason why the newest text of a policy is refused.
func refusedFor(v *lifecycle.CheckResult) string {
	in := func(part string) bool {
		return slices.ContainsFunc(v.Problems, func(p document.Problem) bool { return p.Severity == document.Error && strings.Contains(p.File, part) })
	}
	code := func(code document.Code) bool {
		return slices.ContainsFunc(v.Problems, func(p document.Problem) bool { return p.Severity == document.Error && p.Code == code })
	}
	switch {
	case v.TooLarge:
		return reasonTooLarge
	case v.TestsFailed:
		return reasonTestsFail
	case in("(spec.params"), in("/" + source.ParamsKey):
		return reasonInvalidParams
	case in("(spec.serviceAccountName"), code(document.MissingAllowance), v.Lacks:
		return reasonNotAllowed
	default:
		return reasonInvalidText
	}
}

// policyStatus returns the status of a policy.
func (r *Reconciler) policyStatus(s *setState, id string, p *lifecycle.Policy, c *policyCondition, suspended bool) edictv1.PolicyStatus {
	out := edictv1.PolicyStatus{Name: c.name, Mode: c.mode, LastGood: s.active[id], Reason: c.reason(suspended), Objects: new(int64), Failing: &c.failing, Withheld: &c.withheld}
	if p.Newest != nil {
		out.Revision = p.Newest.Unit.TextRevision
	}
	out.Message = value.Cut(cmp.Or(c.rolloutStopped, c.paused, c.waits, c.message, c.fails), source.MaxText)
	if c.refused != "" && p.Newest != nil {
		out.Message = value.Cut(cmp.Or(s.contentsText(p.Newest.Problems), c.message), source.MaxText)
	}
	objects, disagreements, compared := r.runtime.Count(id)
	*out.Objects = objects
	if compared {
		out.Disagreements = &disagreements
	}
	if pauses := r.runtime.Brakes().Brakes().Pauses(id); len(pauses) > 0 {
		one := &pauses[0]
		out.Pause = &edictv1.Pause{Since: &metav1.Time{Time: one.Since.UTC().Truncate(time.Second)}, Reason: string(one.Reason)}
		out.Message = value.Cut(one.Message, source.MaxText)
	}
	out.Rollout = r.rollouts.statusOf(id)
	return out
}

// writeStatus writes the status of a set if it has changed. Numbers alone are written seldom.
func (r *Reconciler) writeStatus(ctx context.Context, s *setState, now time.Time) error {
	next := r.status(s, now)
	if equality.Semantic.DeepEqual(&s.set.Status, next) {
		return nil
	}
	if now.Sub(s.counted) < countInterval && equality.Semantic.DeepEqual(withoutCounts(&s.set.Status), withoutCounts(next)) {
		return nil
	}
	changed := s.set.DeepCopy()
	changed.Status = *next
	err := r.options.Client.Status().Patch(ctx, changed, client.MergeFrom(s.set), client.FieldOwner(apply.FieldManager))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the status of the set %s cannot be written: %w", s.name(), err)
	}
	s.counted = now
	s.set = changed
	return nil
}

// withoutCounts returns a status without what changes with each object.
func withoutCounts(of *edictv1.PolicySetStatus) *edictv1.PolicySetStatus {
	out := of.DeepCopy()
	out.Objects, out.Failing, out.Withheld = nil, nil, nil
	for i := range out.Policies {
		p := &out.Policies[i]
		p.Objects, p.Failing, p.Withheld, p.Disagreements = nil, nil, nil, nil
		if p.Reason == reasonEnforcing || p.Reason == reasonShadow || p.Reason == reasonProgressing {
			p.Message = ""
		}
	}
	for i := range out.Conditions {
		c := &out.Conditions[i]
		if c.Type == conditionDegraded || c.Type == conditionHeld || c.Reason == reasonProgressing {
			c.Message = ""
		}
	}
	return out
}

// report records Events about a set: changes of its conditions, and the news of the brakes.
func (r *Reconciler) report(s *setState, now time.Time) {
	for _, n := range r.runtime.Brakes().TakeNews(s.name()) {
		kind := corev1.EventTypeWarning
		switch n.Kind {
		case brake.Resumed, brake.HoldBegun, brake.HoldEnded:
			kind = corev1.EventTypeNormal
		}
		r.event(s, kind, string(n.Kind), n.Text)
	}
	for _, kind := range []string{conditionReady, conditionDegraded, conditionRestartSafe} {
		r.reportCondition(s, kind, now)
	}
	r.options.Events.Flush(now)
}

// reportCondition records an Event about a condition that has changed: that of Ready also if its message
// has. It skips a condition that another process has recorded.
func (r *Reconciler) reportCondition(s *setState, kind string, now time.Time) {
	c := meta.FindStatusCondition(s.set.Status.Conditions, kind)
	if c == nil {
		delete(s.events, kind)
		return
	}
	text := string(c.Status) + c.Reason
	if kind == conditionReady {
		text += c.Message
	}
	before, known := s.events[kind]
	s.events[kind] = text
	if before == text || c.Reason == reasonProgressing || !known && now.Sub(c.LastTransitionTime.Time) > countInterval {
		return
	}
	severity := corev1.EventTypeWarning
	if kind == conditionReady && (c.Status == metav1.ConditionTrue || c.Reason == reasonWaiting) {
		severity = corev1.EventTypeNormal
	}
	r.event(s, severity, c.Reason, c.Message)
}

// event records an Event about a set.
func (r *Reconciler) event(s *setState, kind, reason, text string) {
	of := &corev1.ObjectReference{APIVersion: edictv1.GroupVersion.String(), Kind: "PolicySet", Namespace: s.set.Namespace, Name: s.set.Name, UID: s.set.UID, ResourceVersion: s.set.ResourceVersion}
	r.options.Events.Add(of, kind, reason, value.Cut(text, source.MaxText), time.Now())
}

// measure sets the metrics of the sets and of refused policies.
func (r *Reconciler) measure() {
	observe.Ready.Reset()
	values := map[observe.Series]float64{}
	for _, s := range r.sets {
		if ready := meta.FindStatusCondition(s.set.Status.Conditions, conditionReady); ready != nil {
			is := 0.0
			if ready.Status == metav1.ConditionTrue {
				is = 1
			}
			observe.Ready.WithLabelValues(s.name(), ready.Reason).Set(is)
		}
		for _, id := range s.ids(r.policies) {
			p, failed := r.policies.Get(id), 0.0
			if p.Newest == nil || p.Phase == lifecycle.Refused || p.Report.Event == lifecycle.Failed {
				failed = 1
			}
			values[observe.SeriesOf(observe.Failed, id)] = failed
			if s.active[id] != "" && p.Assigned == nil && (p.Newest == nil || !p.Newest.Disabled()) {
				values[observe.SeriesOf(observe.Ended, id)] = 1
			}
		}
		for id := range s.ended {
			values[observe.SeriesOf(observe.Ended, id)] = 1
		}
	}
	r.gauges.Set(values)
}
