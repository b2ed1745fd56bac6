package compile

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// metadataNames rejects keys and values of labels and annotations that the API
// server would refuse at every write, as far as they are known. The words are
// apimachinery's.
func metadataNames(set []v1alpha1.Entry[v1alpha1.Template], fields *cel.Template, field string, problems *findings) {
	for _, e := range set {
		if strings.Contains(e.Key.Value, "${") {
			continue
		}
		if wrong := validation.IsQualifiedName(strings.ToLower(e.Key.Value)); len(wrong) > 0 {
			problems.Reportf(document.InvalidName, e.Key.Pos(), wrong[0], "%q cannot be a key of %s", e.Key.Value, field)
		}
		text, known := value.Str(constantOf(fields.Field(e.Key.Value)))
		if wrong := validation.IsValidLabelValue(text); known && field == "labels" && len(wrong) > 0 {
			problems.Reportf(document.InvalidName, e.Value.Pos(), wrong[0], "%q cannot be the value of a label", text)
		}
	}
}

// reasonForm is that of metav1.Condition.
var reasonForm = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// conditionNames does the same for the type and reason of a condition.
func conditionNames(a *v1alpha1.ConditionAction, kind, reason *cel.Template, problems *findings) {
	if text, known := value.Str(constantOf(kind)); known {
		if wrong := validation.IsQualifiedName(text); len(wrong) > 0 {
			problems.Reportf(document.InvalidName, a.Type.Pos(), wrong[0], "%q cannot be the type of a condition", text)
		}
	}
	if text, known := value.Str(constantOf(reason)); known && !reasonForm.MatchString(text) {
		problems.Reportf(document.InvalidName, a.Reason.Pos(), "one word in CamelCase, such as NodeNotReady", "%q cannot be the reason of a condition", text)
	}
}
