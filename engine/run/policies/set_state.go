package policies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/release"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// setState is the reconciler's state of a PolicySet.
type setState struct {
	set *edictv1.PolicySet
	// source is its ConfigMap; nil if there is none.
	source *source.ConfigMap
	choice history.Choice
	// contents are the policies of the chosen text; nil if there is none. read identifies what they
	// were read from.
	contents *source.Contents
	read     string
	// wrongAccount reports whether the set names an account that its policies may not write as.
	wrongAccount bool
	// texts are the texts of the history, the oldest first.
	texts []*history.Text
	// active has the revision of the text that each policy was last active with, by ID.
	active map[string]string
	// ended are the policies that were active and left the text, by ID.
	ended map[string]bool
	// lost has the errors in the last active text of a policy, by ID.
	lost map[string]string
	// obstacles has the errors with which active policies would not start again, by ID; asked is when they
	// were found.
	obstacles map[string]obstacle
	asked     time.Time
	// finalizers are in the status, survey is the last search for objects that have them;
	// nil if there was none.
	finalizers release.Counts
	survey     *survey
	// deleted reports whether the policies were stopped since the set is being deleted.
	deleted bool
	// overlap names a field that a policy of another set enforces, too; empty if there is none.
	overlap string
	// waits is since when each policy waits, by ID.
	waits map[string]time.Time
	// resumed is the resumption that was applied.
	resumed time.Time
	// counted is when numbers were last written to the status.
	counted time.Time
	// events are the conditions of the last Events, by type.
	events map[string]string
}

func (s *setState) name() string { return s.set.Name }

// id returns the ID of a policy of the set.
func (s *setState) id(policy string) string { return identity.PolicyID(s.set.Name, policy) }

// ids returns the IDs of the policies of the set that have a text or run, sorted.
func (s *setState) ids(policies *lifecycle.Registry) []string {
	all := slices.Concat(policies.Checked(), policies.RunningIDs(), slices.Collect(maps.Keys(s.active)))
	all = slices.DeleteFunc(all, func(id string) bool { return !strings.HasPrefix(id, s.set.Name+"/") })
	slices.Sort(all)
	return slices.Compact(all)
}

// restore returns the state of a set as its status and the history have it.
func (r *Reconciler) restore(ctx context.Context, set *edictv1.PolicySet) (*setState, error) {
	s := &setState{set: set, active: map[string]string{}, lost: map[string]string{}, waits: map[string]time.Time{}, events: map[string]string{}, ended: map[string]bool{}, finalizers: release.CountsIn(set.Status.Finalizers)}
	var list appsv1.ControllerRevisionList
	if err := r.options.Client.List(ctx, &list, client.InNamespace(set.Namespace), client.MatchingLabels{history.Label: set.Name}); err != nil {
		return nil, fmt.Errorf("the history of the set %s cannot be read: %w", set.Name, err)
	}
	s.texts = history.List(set, list.Items)
	for i := range set.Status.Policies {
		p := &set.Status.Policies[i]
		if p.LastGood != "" {
			s.active[s.id(p.Name)] = p.LastGood
		}
		if p.Pause != nil && p.Pause.Since != nil {
			r.runtime.Brakes().Brakes().Restore([]brake.Pause{{Policy: s.id(p.Name), Reason: brake.Reason(p.Pause.Reason), Message: p.Message, Since: p.Pause.Since.Time}})
		}
		r.rollouts.restore(s.id(p.Name), p, set.Status.ObservedGeneration)
	}
	return s, nil
}

// read reads the text of a set, and applies what needs no text.
func (r *Reconciler) read(ctx context.Context, s *setState) error {
	m := &corev1.ConfigMap{}
	err := r.options.Client.Get(ctx, r.key(s.set.Spec.Source.ConfigMap.Name), m)
	switch {
	case err == nil:
		s.source = source.NewConfigMap(m)
	case apierrors.IsNotFound(err):
		s.source = nil
	default:
		return err
	}
	s.choice = history.Choose(s.set, s.source, s.texts)
	r.account(s)
	r.readContents(s)
	r.brake(s)
	return nil
}

// readContents reads the policies of the chosen text, unless neither has changed.
func (r *Reconciler) readContents(s *setState) {
	if s.choice.Text == nil {
		s.contents, s.read = nil, ""
		return
	}
	spec := s.set.Spec.DeepCopy()
	spec.Holds, spec.ResumedAt, spec.Suspend = nil, nil, nil
	now := hashed(spec, s.choice.Text.Digest(), s.choice.Text.Path(), s.choice.Text.Binary, r.closed)
	if s.read == now {
		return
	}
	s.contents, s.read = r.contentsOf(s, s.choice.Text), now
}

// contentsOf reads the policies of a text as a set runs them now.
func (r *Reconciler) contentsOf(s *setState, text *source.ConfigMap) *source.Contents {
	contents := source.Read(source.NewSet(s.set), text)
	rights := s.rights(r.closed)
	for _, u := range contents.Units {
		u.Rights = rights
		if s.wrongAccount {
			u.Unread = append(slices.Clip(u.Unread), s.problem("spec.serviceAccountName", "the policies of a set must not write as the controller itself: name another ServiceAccount"))
		}
	}
	return contents
}

// rights identifies the allowances of a set, and the fields that are closed to it.
func (s *setState) rights(closed string) string {
	return hashed(s.set.Spec.Allow, s.set.Spec.Pinned, closed)
}

// account sets the ServiceAccount of a set, unless its policies may not write as that one.
func (r *Reconciler) account(s *setState) {
	s.wrongAccount = !r.options.Accounts.SetName(s.name(), s.set.Spec.ServiceAccountName)
}

func hashed(parts ...any) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(parts); err != nil { // it is plain data
		return err.Error()
	}
	return hex.EncodeToString(h.Sum(nil))
}

// guard sets what the policies of all sets may do. Fields that a pinned set obeys are closed to the
// policies of all others, which are read again if these fields change.
func (r *Reconciler) guard() {
	g := guard.Guard{Home: r.options.Namespace}
	for _, s := range r.ordered() {
		set := source.NewSet(s.set)
		g.Add(set.Name, set.Pinned(), set.Allowances())
	}
	r.options.SetGuard(g)
	closed := hashed(g.Closed)
	if r.closed != "" && r.closed != closed {
		r.enqueueAll()
	}
	r.closed = closed
}

// brake applies the holds of a set, its suspension, and a resumption.
func (r *Reconciler) brake(s *setState) {
	var holds []brake.Hold
	hold := func(h brake.Hold) {
		for _, id := range s.policyIDs(r.policies) {
			if h.Policy == "" || s.id(h.Policy) == id {
				one := h
				one.Policy = id
				holds = append(holds, one)
			}
		}
	}
	if set := source.NewSet(s.set); set.Suspended() {
		hold(brake.Hold{Name: suspension, Reason: "spec.suspend is true", By: "spec.suspend", Until: never, Silent: true})
	}
	for i := range s.set.Spec.Holds {
		h := &s.set.Spec.Holds[i]
		hold(brake.Hold{Name: h.Name, Policy: h.Policy, Rule: h.Rule, Key: h.Key, Reason: h.Reason, By: h.By, Until: h.Until.Time})
	}
	brakes := r.runtime.Brakes()
	brakes.SetHolds(s.set.Name, holds)
	if at := s.set.Spec.ResumedAt; at != nil && at.After(s.resumed) {
		s.resumed = at.Time
		for _, id := range s.policyIDs(r.policies) {
			brakes.Resume(id, "spec.resumedAt", at.Time)
		}
	}
}

// suspension is the name of the hold of a set that is suspended; no name of a hold has a space.
const suspension = "spec suspend"

// never is the end of a hold that has none.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// policyIDs returns the IDs of the policies that a set has in its text or runs.
func (s *setState) policyIDs(policies *lifecycle.Registry) []string {
	out := s.ids(policies)
	if s.contents != nil {
		for _, u := range s.contents.Units {
			out = append(out, u.ID())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
