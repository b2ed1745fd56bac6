package webhook

import (
	"github.com/edict-dev/edict/engine/source"

	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/edict-dev/edict/engine/document"
)

// kubectlEdit is the field manager of kubectl edit.
const kubectlEdit = "kubectl-edit"

// refusal rejects an object because of errors. Clients show the message.
//
// The reason is Forbidden, although the text is wrong: of an object that is Invalid,
// kubectl apply --force and others with such an option take that a field cannot be changed,
// delete it and create it again, and the creation would be refused as well. Only kubectl
// edit, which opens the editor again with the causes when the reason is Invalid, receives that one.
func refusal(r ctrladmission.Request, of *source.Contents, problems []document.Problem) ctrladmission.Response {
	response := ctrladmission.Denied("")
	status := response.Result
	status.Message, status.Code = "\n"+of.ProblemText(problems, document.Error), http.StatusUnprocessableEntity
	if fieldManager(r) == kubectlEdit {
		status.Reason = metav1.StatusReasonInvalid
		status.Details = &metav1.StatusDetails{Kind: r.Kind.Kind, Name: r.Name, Causes: of.Causes(problems, document.Error)}
	}
	return response
}

// fieldManager returns the field manager of an object, as the options of the request say.
func fieldManager(r ctrladmission.Request) string {
	var options struct {
		FieldManager string `json:"fieldManager"`
	}
	if json.Unmarshal(r.Options.Raw, &options) != nil { // there are none
		return ""
	}
	return options.FieldManager
}
