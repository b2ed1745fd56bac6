package webhook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/test/fixture"
)

// TestRolloutAnnotation: an annotation with steps that cannot be read is rejected with
// its place, also if nothing else changes.
func TestRolloutAnnotation(t *testing.T) {
	t.Parallel()
	with := func(annotation string) *corev1.ConfigMap {
		m := configMapOf(v1alpha1.LabelPolicy, "m", map[string]string{"p.yaml": fixture.Policy("p", "a")})
		m.Annotations = map[string]string{v1alpha1.AnnotationRollout: annotation}
		return m
	}
	good := "steps: [{percent: 5}]\ninterval: 10m\n"
	for name, tc := range map[string]struct{ before, now, message string }{
		"good":            {"", good, ""},
		"removed":         {good, "", ""},
		"broken":          {good, "steps: [{percent: 5}]\ninterval: soon\n", "\nns/m (annotation edict.dev/rollout):2:11: error: interval must be a duration from 1s to 720h0m0s, not \"soon\"\n    interval: soon\n              ^\n    for example 10m"},
		"broken already":  {"steps: 5%", "steps: 5%", ""},
		"broken, mended":  {"steps: 5%", good, ""},
		"broken in other": {"steps: 5%", "interval: 10m", "\nns/m (annotation edict.dev/rollout):1:1: error: the rollout needs steps\n    interval: 10m\n    ^\n    " + `{steps: [{percent: 5}, {percent: 25}], interval: 10m, stop: {errors: 0, disagreements: 20}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judging(t, with(tc.before)).Handle(t.Context(), edit(t, with(tc.before), with(tc.now)))
			message := ""
			if r.Result != nil {
				message = r.Result.Message
			}
			if d := cmp.Diff(tc.message, message); d != "" || r.Allowed != (tc.message == "") {
				t.Errorf("allowed: %v, -want +got:\n%s", r.Allowed, d)
			}
		})
	}
}
