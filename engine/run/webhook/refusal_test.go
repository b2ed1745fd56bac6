package webhook

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/test/fixture"
)

// TestReasonOfRefusal: only kubectl edit is told that the ConfigMap is Invalid, with the
// causes; to others that could mean that it is to be deleted and created anew.
func TestReasonOfRefusal(t *testing.T) {
	t.Parallel()
	good := fixture.Policy("p", "${params.value}")
	before := configMapOf(v1alpha1.LabelPolicy, "m", map[string]string{"p.yaml": good})
	now := configMapOf(v1alpha1.LabelPolicy, "m", map[string]string{"p.yaml": strings.Replace(good, "params.value", "params.valeu", 1)})
	for options, want := range map[string]metav1.StatusReason{
		``: metav1.StatusReasonForbidden, `{}`: metav1.StatusReasonForbidden, `{"fieldManager": "kubectl-client-side-apply"}`: metav1.StatusReasonForbidden,
		`{"kind": "PatchOptions", "fieldManager": "kubectl-edit"}`: metav1.StatusReasonInvalid,
	} {
		r := edit(t, before, now)
		r.Kind.Kind, r.Options.Raw = "ConfigMap", []byte(options)
		response := judging(t, before).Handle(t.Context(), r)
		if response.Allowed || response.Result.Reason != want || !strings.Contains(response.Result.Message, "p.yaml:") {
			t.Fatalf("%s: %+v, want the reason %s", options, response.Result, want)
		}
		details := response.Result.Details
		if (details != nil) != (want == metav1.StatusReasonInvalid) {
			t.Errorf("%s: the details are %+v", options, details)
		}
		if details != nil && (details.Kind != "ConfigMap" || details.Name != "m" || len(details.Causes) != 1 || details.Causes[0].Field != "data[p.yaml]") {
			t.Errorf("the details are %+v", details)
		}
	}
}
