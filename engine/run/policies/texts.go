package policies

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// noteActive notes the active text of each policy of a set.
func (r *Reconciler) noteActive(s *setState) {
	for _, id := range s.ids(r.policies) {
		p := r.policies.Get(id)
		if p.Report.Event == lifecycle.Activated && p.Assigned != nil && p.Report.InForce == p.Assigned.Unit.Revision() {
			s.active[id] = p.Assigned.Unit.TextRevision
			delete(s.ended, id)
		}
	}
}

// runsAll reports whether all policies of the chosen text of a set are active with it, and whether one
// is.
func (r *Reconciler) runsAll(s *setState) (all, some bool) {
	all = true
	for _, u := range s.contents.Units {
		p := r.policies.Get(u.ID())
		runs := p.RunsNewest() && p.Newest.Unit.TextRevision == u.TextRevision
		some, all = some || runs, all && (runs || u.Disabled())
	}
	return all, some
}

// keep keeps the chosen text of a set once one of its policies is active with it, and notes that it
// is active for all objects.
func (r *Reconciler) keep(ctx context.Context, s *setState) (err error) {
	if s.contents == nil {
		return nil
	}
	all, some := r.runsAll(s)
	kept := history.ByDigest(s.texts, s.contents.Digest())
	if kept == nil && (some || s.set.Spec.Source.Digest == s.contents.Digest()) {
		if kept, err = r.store(ctx, s); err != nil {
			return err
		}
	}
	if kept == nil || !some || !all || !kept.Active.IsZero() {
		return nil
	}
	at := time.Now().UTC().Truncate(time.Second)
	o := &appsv1.ControllerRevision{}
	o.Namespace, o.Name = s.set.Namespace, kept.Object
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, history.AnnotationActive, at.Format(time.RFC3339)))
	err = r.options.Client.Patch(ctx, o, patch, client.FieldOwner(apply.FieldManager))
	if apierrors.IsNotFound(err) { // a user has deleted it
		s.texts = slices.DeleteFunc(s.texts, func(t *history.Text) bool { return t == kept })
	}
	if err == nil {
		kept.Active = at
	}
	return err
}

// store stores the chosen text of a set.
func (r *Reconciler) store(ctx context.Context, s *setState) (*history.Text, error) {
	number := int64(1)
	if n := len(s.texts); n > 0 {
		number = s.texts[n-1].Number + 1
	}
	made, err := history.New(s.set, s.contents.ConfigMap, number)
	if err != nil {
		return nil, err
	}
	var events corev1.EventList
	if err := r.options.Client.List(ctx, &events, client.InNamespace(made.Namespace), client.MatchingFields{"involvedObject.name": s.name(), "reason": history.ReasonTextWritten}); err != nil {
		r.options.Log.Warn("the author of a text is not known", "name", made.Name, "error", err.Error())
	}
	history.SetAuthor(made, events.Items)
	err = r.options.Client.Create(ctx, made, client.FieldOwner(apply.FieldManager))
	if apierrors.IsAlreadyExists(err) {
		err = r.options.Client.Get(ctx, client.ObjectKeyFromObject(made), made)
	}
	if err != nil {
		return nil, fmt.Errorf("the text of the set %s cannot be kept for a restart: %w", s.name(), err)
	}
	kept := history.ByDigest(history.List(s.set, []appsv1.ControllerRevision{*made}), s.contents.Digest())
	if kept == nil {
		return nil, fmt.Errorf("the text of the set %s cannot be kept for a restart: the ControllerRevision %s has another text, or is not of this set; delete it", s.name(), made.Name)
	}
	s.texts = append(s.texts, kept)
	r.prune(ctx, s)
	return kept, nil
}

// prune removes the oldest texts beyond the limit that the status does not name.
func (r *Reconciler) prune(ctx context.Context, s *setState) {
	named := map[string]bool{s.set.Status.Revision: true, source.Revision(s.contents.Digest()): true}
	for _, revision := range s.active {
		named[revision] = true
	}
	for _, t := range slices.Clone(s.texts) {
		if len(s.texts) <= history.Limit {
			return
		}
		if named[t.Revision] || t.Digest() == s.set.Spec.Source.Digest {
			continue
		}
		o := &appsv1.ControllerRevision{}
		o.Namespace, o.Name = s.set.Namespace, t.Object
		if err := r.options.Client.Delete(ctx, o); err != nil && !apierrors.IsNotFound(err) {
			r.options.Log.Warn("an old text cannot be removed", "name", t.Object, "error", err.Error())
			return
		}
		s.texts = slices.DeleteFunc(s.texts, func(other *history.Text) bool { return other == t })
	}
}
