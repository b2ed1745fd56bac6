package webhook

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/configmap"
)

// ending returns the policies of a ConfigMap that run now and would not run any
// more after it has changed to now, or was deleted if now is nil.
func (a *admission) ending(before, now *corev1.ConfigMap) ([]string, error) {
	if before == nil || before.Labels[v1alpha1.LabelPolicy] != "true" {
		return nil, nil
	}
	old, err := a.options.Store.With(before, a.options.Overrides)
	if err != nil {
		return nil, err
	}
	next, err := a.options.Store.Without(before, a.options.Overrides)
	if now != nil {
		next, err = a.options.Store.With(now, a.options.Overrides)
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(old.Units)) {
		u := old.Units[id]
		mine := old.Origins[id].Path() == before.Namespace+"/"+before.Name
		if mine && !u.Disabled() && next.Units[u.Name()] == nil && next.Units[plan.ID{Name: u.Name(), Shadow: true}.String()] == nil && !next.Unreadable(u.File.Path) {
			out = append(out, u.Name())
		}
	}
	return slices.Compact(out), nil
}

// stopWarnings returns warnings about the policies that an edit or a deletion stops.
func (a *admission) stopWarnings(before, now *corev1.ConfigMap) []string {
	names, err := a.ending(before, now)
	if err != nil || len(names) == 0 {
		return nil
	}
	what := "the policy " + names[0] + " stops"
	if len(names) > 1 {
		what = "the policies " + strings.Join(names, ", ") + " stop"
	}
	why := "it is no longer in the ConfigMap"
	switch {
	case now == nil:
		why = "the ConfigMap is deleted, with its history"
	case now.Labels[v1alpha1.LabelPolicy] != "true":
		why = configmap.LabelProblem(now)
	case len(names) > 1:
		why = "they are no longer in the ConfigMap"
	}
	return []string{what + ": " + why}
}
