package policies

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

// shownInterval is how long the annotation stays as it is while only numbers change.
const shownInterval = 5 * time.Second

// shown is the status that the annotation shows.
type shown struct {
	status rollout.Status
	at     time.Time
}

// show returns the status that the annotation shows.
func (a *activeRollout) show() rollout.Status {
	if a.shown.at.IsZero() {
		return a.status
	}
	return a.shown.status
}

// refresh brings the annotation up to date, and reports whether that changes it.
func (a *activeRollout) refresh(now time.Time) bool {
	was := a.shown.status
	same := was.State == a.status.State && was.Step == a.status.Step && was.Waiting == a.status.Waiting && (was.Next == nil) == (a.status.Next == nil)
	if same && now.Sub(a.shown.at) < shownInterval {
		return false
	}
	a.shown = shown{a.status, now}
	return was != a.status
}

// check begins the steps that are due and stops the rollouts that must not go on. It
// reports whether a status has changed.
func (r *rollouts) check(ctx context.Context, now time.Time) (changed bool) {
	for _, id := range slices.Sorted(maps.Keys(r.active)) {
		one := r.active[id]
		report, ok := r.options.steps.Rollout(id)
		if !ok || report.Revision != one.status.Revision || r.options.policies.Get(id).Phase != lifecycle.RollingOut || one.finished {
			continue // it waits for a kind, or has stopped
		}
		r.step(ctx, one, &report, now)
		changed = one.refresh(now) || changed || one.finished
	}
	return changed || len(r.news) > 0
}

// step brings one rollout as far as it may go now.
func (r *rollouts) step(ctx context.Context, one *activeRollout, report *reconcile.RolloutReport, now time.Time) {
	one.count(report)
	if reason := one.exceeded(report); reason != "" {
		one.status.State, one.status.Reason, one.status.Next, one.status.Waiting = rollout.Stopped, reason, nil, ""
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
			one.status.Next = one.due(now)
		}
		if !now.Before(*one.status.Next) {
			r.advance(ctx, one, now)
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
func (a *activeRollout) due(now time.Time) *time.Time {
	if a.status.Step > 0 {
		now = now.Add(a.spec.Interval)
	}
	now = now.UTC()
	return &now
}

// exceeded returns why the rollout stops; "" is that it does not.
func (a *activeRollout) exceeded(report *reconcile.RolloutReport) string {
	stop := a.spec.Stop
	switch {
	case rollout.Exceeds(report.Errors, stop.Errors):
		return fmt.Sprintf("%d of %d objects fail under %s and not under %s, more than %d; the first is %s", report.Errors, report.Keys, a.status.Revision, a.status.From, stop.Errors, report.Failing)
	case rollout.Exceeds(report.Disagreements, stop.Disagreements):
		return fmt.Sprintf("%s decides otherwise than %s about %d of %d objects, more than %d; the first is %s", a.status.Revision, a.status.From, report.Disagreements, report.Keys, stop.Disagreements, report.Differing)
	default:
		return ""
	}
}

// waits returns why no further step of a policy begins; "" is nothing. What is
// suspended says nothing about a step.
func (r *rollouts) waits(id string) string {
	if why := r.options.steps.WritesStopped(id); why != "" {
		return "writes are stopped: " + why
	}
	state := r.options.brakes(id)
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
func (r *rollouts) advance(ctx context.Context, one *activeRollout, now time.Time) {
	if one.status.Step == len(one.spec.Steps) {
		one.finished = true
		r.options.log.Info("the last step of a rollout is over", observe.LogPolicy, one.status.Policy, observe.LogRevision, one.status.Revision)
		return
	}
	before := one.status
	one.status.Step++
	one.status.State, one.status.Share, one.status.Next = rollout.RollingOut, one.spec.Steps[one.status.Step-1].String(), nil
	if err := r.store(ctx, one.configMap.Path(), one); err != nil {
		one.status = before
		r.options.log.Error("a step of a rollout cannot be stored, and does not begin; it will be tried again", observe.LogPolicy, one.status.Policy, observe.LogRevision, one.status.Revision, "configmap", one.configMap.Path(), "error", err.Error())
		return
	}
	one.shown = shown{one.status, now}
	r.begun[[2]string{one.status.Policy, one.status.Revision}] = true
	r.options.steps.Advance(one.status.Policy, one.status.Revision, one.spec.Share(one.status.Step))
	text := one.status.String()
	r.options.log.Info("a step of a rollout begins", observe.LogPolicy, one.status.Policy, observe.LogRevision, one.status.Revision, "step", one.status.Step, "steps", one.status.Steps, "share", one.status.Share)
	r.news = append(r.news, rolloutNews{one.configMap.Path(), text})
}

// store writes how far the rollouts of a ConfigMap have come.
func (r *rollouts) store(ctx context.Context, configMap string, one *activeRollout) error {
	text := rollout.Format(r.statuses(configMap, func(now *activeRollout) rollout.Status {
		if now == one {
			return now.status
		}
		return now.show()
	}))
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": one.configMap.UID, "annotations": map[string]string{v1alpha1.AnnotationRolloutStatus: text}}})
	if err != nil {
		return err
	}
	_, err = r.options.client.CoreV1().ConfigMaps(one.configMap.Namespace).Patch(ctx, one.configMap.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: apply.FieldManager})
	return err
}

// refuse gives all keys back to the revision in force: the text is refused until it, or
// the annotation, changes.
func (r *rollouts) refuse(one *activeRollout) {
	v := r.options.policies.Get(one.status.Policy).Newest
	r.options.log.Error("a rollout stops", observe.LogPolicy, one.status.Policy, observe.LogRevision, one.status.Revision, "step", one.status.Step, "reason", one.status.Reason, "inForce", one.status.From)
	sameText := (&history.Entry{Copy: history.CopyOf(one.from.Unit)}).SameText(&history.Entry{Copy: history.CopyOf(v.Unit)})
	now := *v
	now.Plan, now.Compiled, now.RolloutStopped = nil, true, true
	now.Problems = append(slices.Clone(v.Problems), document.Problem{
		Position: v.Unit.Document.Pos, Severity: document.Error, Message: "the rollout has stopped: " + one.status.Reason,
		Hint: fmt.Sprintf("%s decides about all objects again; %s; a change of the annotation %s begins the rollout anew", one.status.From, wayBack(one.status.Policy, r.options.namespace, sameText), v1alpha1.AnnotationRollout),
	})
	r.options.policies.Check(one.status.Policy, &now)
	observe.Reloads.WithLabelValues(one.status.Policy, "rolled back").Inc()
}

// wayBack is how a person gets from a revision that was refused back to the one that
// runs. edict rollback would write an older text if only values are others.
func wayBack(policy, namespace string, sameText bool) string {
	if sameText {
		return "the text is the same: correct the values for its params, which are in the ConfigMaps labelled " + v1alpha1.LabelParams
	}
	return "correct the text, or take it back: edict rollback " + policy + " --policy-namespace " + namespace
}
