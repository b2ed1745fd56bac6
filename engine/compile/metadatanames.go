package compile

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
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

const reservedHint = "choose a key of a domain of your own, such as example.com/NAME"

// reservedKeys rejects keys that are written out and are in the domain of the engine's own
// marks.
func reservedKeys(spec *document.Node, problems *findings) {
	spec.Walk(func(_ string, n *document.Node) {
		for _, key := range n.Keys {
			if plan.Reserved(key.Text) {
				problems.Reportf(document.InvalidName, key.Pos, reservedHint, "%q is a key below edict.dev, which only Edict itself writes", key.Text)
			}
		}
	})
}

// reservedParams rejects such keys of labels and annotations that come from params.
func reservedParams(p *plan.Policy, problems *findings) {
	check := func(at document.Position, under []string, fields *cel.Template) {
		fields.EachField(func(below []string, _ bool) {
			path := slices.Concat(under, below)
			key := path[len(path)-1]
			if len(path) > 1 && slices.Contains([]string{"labels", "annotations"}, path[len(path)-2]) && plan.Reserved(key) && !p.Marks(key) {
				problems.Reportf(document.InvalidName, at, reservedHint, "by its params the action writes %q, a key below edict.dev, which only Edict itself writes", key)
			}
		})
	}
	for _, r := range p.Rules {
		for a := range r.Actions() {
			switch a := a.(type) {
			case *plan.Merge:
				check(a.Pos, a.Under, a.Fields)
			case *plan.Child:
				check(a.Pos, nil, a.Manifest)
			}
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
