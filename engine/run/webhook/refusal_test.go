package webhook

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/test/fixture"
)

// TestReasonOfRefusal: only kubectl edit receives the reason Invalid, with the causes; others
// could delete the object and create it again.
func TestReasonOfRefusal(t *testing.T) {
	t.Parallel()
	good := fixture.Policy("p", "${params.value}")
	text := editText(t, mapOf("m", map[string]string{"p.yaml": good}), mapOf("m", map[string]string{"p.yaml": strings.Replace(good, "params.value", "params.valeu", 1)}))
	set := editSet(t, setOf(nil), setOf(func(s *edictv1.PolicySet) {
		s.Spec.Params = map[string]edictv1.Values{"p": {"value": apiextensionsv1.JSON{Raw: []byte("null")}}}
	}))
	for options, reason := range map[string]metav1.StatusReason{
		``: metav1.StatusReasonForbidden, `{}`: metav1.StatusReasonForbidden, `{"fieldManager": "kubectl-client-side-apply"}`: metav1.StatusReasonForbidden,
		`{"kind": "PatchOptions", "fieldManager": "kubectl-edit"}`: metav1.StatusReasonInvalid,
	} {
		for field, r := range map[string]ctrladmission.Request{"data[p.yaml]": text, "spec.params.p.value": set} {
			r.Options.Raw = []byte(options)
			response := judging(t, setOf(nil)).Handle(t.Context(), r)
			if response.Allowed || response.Result.Reason != reason || response.Result.Message == "" || response.Result.Code != 422 {
				t.Fatalf("%s: %+v, want the reason %s", options, response.Result, reason)
			}
			details := response.Result.Details
			if (details != nil) != (reason == metav1.StatusReasonInvalid) {
				t.Errorf("%s: the details are %+v", options, details)
			}
			if details != nil && (details.Kind != r.Kind.Kind || details.Name != r.Name || len(details.Causes) != 1 || details.Causes[0].Field != field) {
				t.Errorf("%s: the details are %+v", field, details)
			}
		}
	}
}
