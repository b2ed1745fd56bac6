package policies

import (
	"context"
	"fmt"
	"maps"
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
	set string
	// remove takes the finalizers off.
	remove bool
	at     time.Time
	// counts are the objects that still have each finalizer, failure is the first one; both are complete
	// once it has ended.
	counts  release.Counts
	failure string
	ended   bool
}

// declare has a set held, and its status list the finalizers of a revision, before the revision runs.
func (r *Reconciler) declare(ctx context.Context, s *setState, rev *lifecycle.Revision) error {
	all := maps.Clone(s.finalizers)
	for _, one := range []*lifecycle.Revision{rev, rev.Staged.Base(), rev.Fallback} {
		if one != nil && one.Plan != nil && one.Plan.Mode == plan.Enforce {
			all.Add(one.Plan)
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
	changed.Status.Finalizers = all.Status()
	if err := r.options.Client.Status().Patch(ctx, changed, client.MergeFrom(s.set), client.FieldOwner(apply.FieldManager)); err != nil {
		return fmt.Errorf("the status of the set %s cannot list the finalizers of its policies before they set them: %w", s.name(), err)
	}
	s.set, s.finalizers = changed, all
	return nil
}

// count counts the objects with finalizers of a set from time to time.
func (r *Reconciler) count(s *setState, now time.Time) {
	if len(s.finalizers) > 0 && (s.survey == nil || s.survey.ended && now.Sub(s.survey.at) >= surveyInterval) {
		r.survey(s, false, now)
	}
}

// survey starts a search for the objects of a set.
func (r *Reconciler) survey(s *setState, remove bool, now time.Time) {
	one := &survey{set: s.name(), remove: remove, at: now, counts: release.Counts{}}
	s.survey = one
	finalizers := maps.Clone(s.finalizers)
	r.background(func() {
		ctx, releaser := r.runtime.Context(), r.options.Releaser
		releaser.DryRun, releaser.Report = !remove, one.add
		releaser.Release(ctx, one.set+"/", finalizers)
		select {
		case r.surveys <- one:
		case <-ctx.Done():
		}
	})
}

// add adds an object.
func (s *survey) add(o release.Outcome) {
	if o.Err != nil && s.failure == "" {
		s.failure = fmt.Sprintf("%s %s: %v", o.Kind, o.Object, o.Err)
	}
	if o.Err != nil || !s.remove {
		for f := range o.Of {
			s.counts[f]++
		}
	}
}

// surveyed takes the result of a survey.
func (r *Reconciler) surveyed(one *survey) {
	one.ended = true
	s := r.sets[one.set]
	if s == nil || s.survey != one || one.failure != "" && !one.remove {
		return
	}
	for f := range s.finalizers {
		s.finalizers[f] = one.counts[f]
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
	r.report(s, now)
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
