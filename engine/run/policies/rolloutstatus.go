package policies

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// read reads how far the rollouts have come that another process left.
func (r *rollouts) read(ctx context.Context) error {
	list, err := r.options.client.CoreV1().ConfigMaps(r.options.namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelPolicy + "=true"})
	if err != nil {
		return err
	}
	for i := range list.Items {
		m := &list.Items[i]
		statuses, err := rollout.ParseStatus(m.Annotations[v1alpha1.AnnotationRolloutStatus])
		if err != nil {
			r.options.log.Warn("an annotation cannot be read, so that its rollouts begin anew", "configmap", m.Namespace+"/"+m.Name, "annotation", v1alpha1.AnnotationRolloutStatus, "error", err.Error())
		}
		for _, s := range statuses {
			r.left[leftRollout{(&source.ConfigMap{Namespace: m.Namespace, Name: m.Name}).Path(), s.Policy}] = s
			if s.Step > 0 {
				r.begun[[2]string{s.Policy, s.Revision}] = true
			}
		}
	}
	return nil
}

// retry has the texts checked again whose rollouts have stopped and whose annotation has
// changed since.
func (r *rollouts) retry(c *source.Catalog) {
	for id, now := range r.active {
		origin := c.Origins[id]
		if now.status.State == rollout.Stopped && origin != nil && (origin.Rollout == nil || origin.Rollout.Digest != now.status.Digest) {
			r.options.policies.Recheck(id)
			r.end(id, "the annotation has changed")
		}
	}
}

// update forgets the rollouts of texts that are no longer there or no longer good. Those
// that have stopped, in this process or another one, are kept and stay stopped when the
// same text is good again.
func (r *rollouts) update(c *source.Catalog) {
	for of, left := range r.left {
		v, origin := r.options.policies.Get(of.policy).Newest, c.Origins[of.policy]
		if left.State == rollout.Stopped && v != nil && origin != nil && origin.Rollout != nil && origin.ConfigMap.Path() == of.configMap {
			r.takeStopped(of, v, origin)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.active)) {
		v, now := r.options.policies.Get(id).Newest, r.active[id]
		switch {
		case v == nil || v.Unit.Revision() != now.status.Revision || !v.Good() && now.status.State != rollout.Stopped:
			r.end(id, "its text is no longer there, or no longer good")
		case v.Good() && now.status.State == rollout.Stopped: // it was checked again, for another reason
			r.refuse(now)
		}
	}
}

// takeStopped takes over a rollout that had stopped when another process led, unless the
// text or the annotation has changed since.
func (r *rollouts) takeStopped(of leftRollout, v *lifecycle.CheckResult, origin *source.Contents) {
	from := r.options.history.lastGood(of.policy)
	if from == nil {
		return
	}
	now := rollout.Status{Revision: v.Unit.Revision(), From: from.Unit.Revision(), Digest: origin.Rollout.Digest, Steps: len(origin.Rollout.Steps)}
	if left := r.take(of, &now); left != nil {
		r.active[of.policy] = &activeRollout{status: *left, spec: origin.Rollout, from: from, configMap: origin.ConfigMap}
	}
}

// text returns how far the rollouts of a ConfigMap have come, as its annotation has it.
func (r *rollouts) text(configMap string) string {
	return rollout.Format(r.statuses(configMap, func(now *activeRollout) rollout.Status { return now.show() }))
}

func (r *rollouts) statuses(configMap string, of func(*activeRollout) rollout.Status) (out []rollout.Status) {
	for _, id := range slices.Sorted(maps.Keys(r.active)) {
		now := r.active[id]
		refused := now.status.State != rollout.Stopped && r.options.policies.Get(id).Phase == lifecycle.Refused // it fails for an object
		if now.configMap.Path() == configMap && !refused {
			out = append(out, of(now))
		}
	}
	return out
}

// takeNews returns the steps that have begun since the last call.
func (r *rollouts) takeNews() []rolloutNews {
	out := r.news
	r.news = nil
	return out
}
