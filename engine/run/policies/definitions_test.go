package policies

import (
	"log/slog"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

// TestDefinitions: after a CRD has changed, the sets are asked again while its types may not be published yet,
// and otherwise each minute. A CRD of PolicySets without a version is old.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	r := New(Options{Log: slog.New(slog.DiscardHandler)})
	r.policies = lifecycle.NewRegistry()
	s := &setState{set: &edictv1.PolicySet{}}
	asks := func(at time.Time) bool {
		r.ask(t.Context(), s, at)
		return s.asked.Equal(at)
	}
	begin := time.Now()
	if !asks(begin) || asks(begin.Add(3*time.Second)) {
		t.Error("a set is not asked once a minute")
	}
	sets := &metav1.PartialObjectMetadata{}
	sets.Name = "policysets.edict.dev"
	r.noteDefinition(sets)
	if !r.outdated.Load() {
		t.Error("a CRD without a version is not old")
	}
	if !asks(begin.Add(3*time.Second)) || !asks(begin.Add(6*time.Second)) || !asks(begin.Add(30*time.Second)) || asks(begin.Add(33*time.Second)) || !asks(begin.Add(90*time.Second)) {
		t.Error("a set is not asked again while the types of a CRD may not be published")
	}
	sets.Annotations = map[string]string{edictv1.CRDVersionAnnotation: "1"}
	if r.noteDefinition(sets); r.outdated.Load() {
		t.Error("the CRD of this version is old")
	}
}
