package apply

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

func scaling(rule, item int, name string, n int64) *eval.Effect {
	return &eval.Effect{Verb: eval.VerbScale, Rule: rule, Item: item, Target: id(name), Replicas: n, Patch: frozen(map[string]any{"spec": map[string]any{"size": n}})}
}

func evicting(rule, item int, name string) *eval.Effect {
	return &eval.Effect{Verb: eval.VerbEvict, Rule: rule, Item: item, Target: id(name), Patch: frozen(map[string]any{})}
}

func approving(rule, item int, name string) *eval.Effect {
	return &eval.Effect{Verb: eval.VerbApprove, Rule: rule, Item: item, Target: id(name), Patch: frozen(map[string]any{"x": 1})}
}

// budgetRefuses is what the API server answers to an eviction that a budget does not
// allow.
func budgetRefuses() error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget b needs 2 healthy pods and has 2 currently"})
	return err
}

// noScale is what the API server answers to a request for a path that it does not
// have: not that the object is gone.
func noScale() error {
	err := apierrors.NewNotFound(kschema.GroupResource{Resource: "widgets"}, "a")
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Message: "404 page not found"}}
	return err
}

// TestSubresources: scaling and evicting are requests about what was decided on; an
// eviction that is refused ends its item only, and an Event tells of it once.
func TestSubresources(t *testing.T) {
	t.Parallel()
	const refusedEvent = "event a uid-a: Normal EvictionRefused Cannot evict pod as it would violate the pod's disruption budget: The disruption budget b needs 2 healthy pods and has 2 currently"
	for name, tc := range map[string]struct {
		effects  []*eval.Effect
		failures map[string]error
		want     []string
		results  []string
	}{
		"scaling": {
			[]*eval.Effect{scaling(0, 1, "a", 3), patch(1, 2, "a", "")}, nil,
			[]string{"patch a/scale map[spec:map[replicas:3]] at old-a by p", "patch a/ map[x:2] at new-1 by p"}, []string{"written", "written"},
		},
		"scaling what is gone": {
			[]*eval.Effect{scaling(0, 1, "a", 3)}, map[string]error{"a": apierrors.NewNotFound(kschema.GroupResource{}, "a")},
			[]string{"patch a/scale map[spec:map[replicas:3]] at old-a by p"}, []string{"gone"},
		},
		"scaling a kind that cannot be": {
			[]*eval.Effect{scaling(0, 1, "a", 3)}, map[string]error{"a": noScale()},
			[]string{"patch a/scale map[spec:map[replicas:3]] at old-a by p"}, []string{"failed"},
		},
		"the status of a kind without the subresource": {
			[]*eval.Effect{patch(0, 1, "a", "status"), patch(1, 2, "b", "")}, map[string]error{"a": noScale()},
			[]string{"patch a/status map[x:1] at old-a by p"}, []string{"failed", "skipped"},
		},
		"a kind that is gone": {
			[]*eval.Effect{patch(0, 1, "a", "")}, map[string]error{"a": noScale()},
			[]string{"patch a/ map[x:1] at old-a by p"}, []string{"gone"},
		},
		"evicting": {
			[]*eval.Effect{evicting(0, 1, "a")}, nil, []string{"live primary", `evict a uid-a at "old-a" by p`}, []string{"written"},
		},
		"approving": {
			[]*eval.Effect{approving(0, 1, "a"), patch(1, 2, "a", "")}, nil,
			[]string{"live primary", "patch a/approval map[x:1] at old-a by p", "patch a/ map[x:2] at new-1 by p"}, []string{"written", "written"},
		},
		"approving after a patch": {
			[]*eval.Effect{patch(0, 1, "a", ""), approving(0, 1, "a")}, nil,
			[]string{"patch a/ map[x:1] at old-a by p", "live primary", "patch a/approval map[x:1] at new-1 by p"}, []string{"written", "written"},
		},
		"a refused eviction": {
			[]*eval.Effect{evicting(0, 1, "a"), patch(0, 1, "b", ""), evicting(0, 2, "c"), patch(1, 3, "d", "")}, map[string]error{"a": budgetRefuses()},
			[]string{"live primary", `evict a uid-a at "old-a" by p`, refusedEvent, `evict c uid-c at "old-c" by p`, "patch d/ map[x:3] at old-d by p"},
			[]string{"refused", "skipped", "written", "written"},
		},
		"a refused eviction after a patch": {
			[]*eval.Effect{patch(0, 1, "b", ""), evicting(0, 1, "a"), patch(0, 1, "d", "")}, map[string]error{"a": budgetRefuses()},
			[]string{"patch b/ map[x:1] at old-b by p", "live primary", `evict a uid-a at "old-a" by p`, refusedEvent},
			[]string{"written", "refused", "skipped"},
		},
		"a server that is busy": {
			[]*eval.Effect{evicting(0, 1, "a")}, map[string]error{"a": apierrors.NewTooManyRequests("busy", 1)},
			[]string{"live primary", `evict a uid-a at "old-a" by p`}, []string{"failed"},
		},
		"an eviction that fails": {
			[]*eval.Effect{evicting(0, 1, "a")}, map[string]error{"a": errors.New("down")},
			[]string{"live primary", `evict a uid-a at "old-a" by p`}, []string{"failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeWriter{live: "old-primary", failures: tc.failures}
			a := Applier{
				Writer: f, Policy: "p", Primary: id("primary"), Seen: func(Event) bool { return false },
				Version: func(id world.ID) (world.Version, string) {
					return world.Version{ResourceVersion: "old-" + id.Name(), Generation: 4}, "uid-" + id.Name()
				},
			}
			var results []string
			for _, o := range a.Apply(t.Context(), judged(t, tc.effects)) {
				results = append(results, o.Result())
			}
			if d := cmp.Diff(tc.want, f.calls); d != "" {
				t.Errorf("requests (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tc.results, results); d != "" {
				t.Errorf("results (-want +got):\n%s", d)
			}
		})
	}
}
