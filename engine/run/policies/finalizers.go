package policies

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/release"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

const (
	// surveyInterval is how often objects with finalizers are counted.
	surveyInterval = time.Minute
	// releaseInterval is how long it takes until what could not be released is tried again.
	releaseInterval = 15 * time.Second
	// stopInterval is how often it is asked whether the policies of a deleted set have stopped.
	stopInterval = 200 * time.Millisecond
)

// survey is a search for the objects that have finalizers of a set.
type survey struct {
	set *edictv1.PolicySet
	// remove takes the finalizers off.
	remove bool
	at     time.Time
	// The results are set once it has ended: the finalizers with the number of objects that still have
	// them, and the first failure.
	ended      bool
	finalizers []edictv1.Finalizer
	failure    string
}

// declare has a set held, and its status list the finalizers of a revision, before the revision runs.
func (r *Reconciler) declare(ctx context.Context, s *setState, rev *lifecycle.Revision) error {
	all := s.finalizers
	for _, one := range []*lifecycle.Revision{rev, rev.Staged.Base(), rev.Fallback} {
		if one != nil && one.Plan != nil && one.Plan.Mode == plan.Enforce {
			all = withFinalizers(all, one.Plan)
		}
	}
	if len(all) == 0 || len(all) == len(s.finalizers) && controllerutil.ContainsFinalizer(s.set, release.SetFinalizer) {
		return nil
	}
	changed := s.set.DeepCopy()
	if controllerutil.AddFinalizer(changed, release.SetFinalizer) {
		if err := r.options.Client.Patch(ctx, changed, client.MergeFromWithOptions(s.set, client.MergeFromWithOptimisticLock{}), client.FieldOwner(apply.FieldManager)); err != nil {
			return fmt.Errorf("the set %s cannot be held by a finalizer, before its policies set theirs: %w", s.name(), err)
		}
	}
	s.set = changed.DeepCopy()
	changed.Status.Finalizers = all
	if err := r.options.Client.Status().Patch(ctx, changed, client.MergeFrom(s.set), client.FieldOwner(apply.FieldManager)); err != nil {
		return fmt.Errorf("the status of the set %s cannot list the finalizers of its policies before they set them: %w", s.name(), err)
	}
	s.set, s.finalizers = changed, all
	return nil
}

// withFinalizers adds the finalizers of a policy to a list.
func withFinalizers(list []edictv1.Finalizer, p *plan.Policy) []edictv1.Finalizer {
	list = slices.Clone(list)
	for _, t := range release.TargetsOf(p) {
		for _, name := range t.Names {
			one := edictv1.Finalizer{APIGroup: &t.Group, Kind: t.Kind, Namespace: t.Namespace, Name: name, Count: new(int64)}
			if !slices.ContainsFunc(list, func(f edictv1.Finalizer) bool { return sameFinalizer(&f, &one) }) {
				list = append(list, one)
			}
		}
	}
	slices.SortFunc(list, func(a, b edictv1.Finalizer) int {
		return cmp.Or(cmp.Compare(release.Group(&a), release.Group(&b)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func sameFinalizer(a, b *edictv1.Finalizer) bool {
	return release.Group(a) == release.Group(b) && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

// count counts the objects with finalizers of a set from time to time.
func (r *Reconciler) count(s *setState, now time.Time) {
	if len(s.finalizers) > 0 && (s.survey == nil || s.survey.ended && now.Sub(s.survey.at) >= surveyInterval) {
		r.survey(s, false, now)
	}
}

// survey starts a search for the objects of a set.
func (r *Reconciler) survey(s *setState, remove bool, now time.Time) {
	set := s.set.DeepCopy()
	set.Status.Finalizers = slices.Clone(s.finalizers)
	one := &survey{set: set, remove: remove, at: now}
	s.survey = one
	r.background(func() {
		ctx := r.runtime.Context()
		r.search(ctx, one)
		select {
		case r.surveys <- one:
		case <-ctx.Done():
		}
	})
}

// search searches the objects of a survey.
func (r *Reconciler) search(ctx context.Context, one *survey) {
	one.finalizers = one.set.Status.Finalizers
	for i := range one.finalizers {
		one.finalizers[i].Count = new(int64)
	}
	for _, t := range release.TargetsOfSet(one.set) {
		releaser := r.options.Releaser
		releaser.DryRun = !one.remove
		releaser.Report = func(o release.Outcome) {
			if one.remove && o.Err == nil {
				return
			}
			if o.Err != nil && one.failure == "" {
				one.failure = fmt.Sprintf("%s %s: %v", o.Kind, o.Object, o.Err)
			}
			one.add(t, o.Finalizers)
		}
		releaser.Release(ctx, []*release.Target{t})
	}
	one.failure = cmp.Or(one.failure, errText(ctx.Err()))
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// add counts an object of a target with some finalizers.
func (s *survey) add(t *release.Target, names []string) {
	for i := range s.finalizers {
		f := &s.finalizers[i]
		if release.Group(f) == t.Group && f.Kind == t.Kind && f.Namespace == t.Namespace && slices.ContainsFunc(names, func(name string) bool {
			return name == f.Name || f.Name == release.Owned && !slices.Contains(t.Names, name)
		}) {
			*f.Count++
		}
	}
}

// surveyed takes the result of a survey.
func (r *Reconciler) surveyed(one *survey) {
	one.ended = true
	s := r.sets[one.set.Name]
	if s == nil || s.survey != one || one.failure != "" && !one.remove {
		return
	}
	s.finalizers = slices.Clone(s.finalizers)
	for i := range s.finalizers {
		for j := range one.finalizers {
			if sameFinalizer(&s.finalizers[i], &one.finalizers[j]) {
				s.finalizers[i].Count = one.finalizers[j].Count
			}
		}
	}
}

// delete stops the policies of a set that is being deleted, removes their finalizers from the objects,
// and then lets the set go.
func (r *Reconciler) delete(ctx context.Context, s *setState) (reconcile.Result, error) {
	r.account(s)
	if !s.deleted {
		s.deleted, s.survey = true, nil
		r.end(ctx, s)
	}
	now := time.Now()
	again := reconcile.Result{RequeueAfter: healthInterval}
	done := s.survey != nil && s.survey.ended
	switch {
	case !r.runtime.Stopped(s.ids(r.policies)):
		again.RequeueAfter = stopInterval
	case s.survey == nil, done && s.survey.failure != "" && now.Sub(s.survey.at) >= releaseInterval:
		r.survey(s, true, now)
	case done && s.survey.failure == "":
		changed := s.set.DeepCopy()
		if !controllerutil.RemoveFinalizer(changed, release.SetFinalizer) {
			return reconcile.Result{}, nil
		}
		err := r.options.Client.Patch(ctx, changed, client.MergeFromWithOptions(s.set, client.MergeFromWithOptimisticLock{}), client.FieldOwner(apply.FieldManager))
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	err := r.writeStatus(ctx, s, now)
	r.tell(s, now)
	r.measure()
	return again, err
}

// deletion returns the state of a set that is being deleted, as that of a policy.
func (r *Reconciler) deletion(s *setState, now time.Time) policyCondition {
	c := policyCondition{name: s.name(), mode: edictv1.ModeShadow, progress: true, message: "its policies have stopped, and their finalizers are removed from their objects"}
	if s.survey != nil && s.survey.ended && s.survey.failure != "" {
		c.waits = fmt.Sprintf("objects still have finalizers of its policies; edict release %s removes them with your own account: %s", s.name(), s.survey.failure)
	}
	r.noteWait(s, s.name()+"/", &c, now)
	return c
}
