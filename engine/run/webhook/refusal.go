package webhook

import (
	"encoding/json"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/run/configmap"
)

// kubectlEdit is the field manager of kubectl edit.
const kubectlEdit = "kubectl-edit"

// refusal rejects a ConfigMap because of errors. The message is what clients show.
//
// The reason is Forbidden, although the text is what is wrong: of an object that is Invalid,
// kubectl apply --force and others with such an option take that a field cannot be changed,
// delete it and create it anew, and the creation would be refused as well. Only kubectl
// edit, which opens the editor again with the causes when the reason is Invalid, is told so.
func refusal(r ctrladmission.Request, m *corev1.ConfigMap, problems []document.Problem) ctrladmission.Response {
	response, text := ctrladmission.Denied(""), configmap.Of(m)
	status := response.Result
	status.Message, status.Code = "\n"+configmap.ProblemText(text, problems, document.Error), http.StatusUnprocessableEntity
	if fieldManager(r) == kubectlEdit {
		status.Reason = metav1.StatusReasonInvalid
		status.Details = &metav1.StatusDetails{Kind: r.Kind.Kind, Name: m.Name, Causes: configmap.Causes(text, problems, document.Error)}
	}
	return response
}

// fieldManager returns who writes an object, as the options of the request say.
func fieldManager(r ctrladmission.Request) string {
	var options struct {
		FieldManager string `json:"fieldManager"`
	}
	if json.Unmarshal(r.Options.Raw, &options) != nil { // there are none
		return ""
	}
	return options.FieldManager
}
