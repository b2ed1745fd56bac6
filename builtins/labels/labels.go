// Package labels offers Kubernetes label selectors as values: matching, and
// apimachinery's own words for what is wrong with one.
package labels

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// Functions gives labels.matches, labels.selectorError and
// labels.requirementError.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "labels.matches", Args: []expr.Type{expr.Dyn, expr.Dyn}, Result: expr.Bool,
			Doc:     "whether labels satisfy a selector (a LabelSelector or its text form); an absent selector matches everything, a malformed one is an error",
			Example: `labels.matches(object.spec.?selector, item.metadata.?labels)`,
			Do:      matches,
		},
		{
			Name: "labels.selectorError", Args: []expr.Type{expr.Dyn}, Result: expr.String,
			Doc:     "what is wrong with a selector, in the API server's words; \"\" when nothing is",
			Example: `labels.selectorError(object.spec.?nodeLabelSelector)`,
			Do:      selectorError,
		},
		{
			Name: "labels.requirementError", Args: []expr.Type{expr.String, expr.String, expr.ListOf(expr.String)}, Result: expr.String,
			Doc:     "what is wrong with one requirement (key, operator such as in or exists, values); \"\" when nothing is",
			Example: `labels.requirementError("topology.kubernetes.io/zone", "in", object.spec.zones)`,
			Do:      requirementError,
		},
	}
}

func matches(_ *expr.Call, args []value.Value) (value.Value, error) {
	s, err := selector.Parse(args[0])
	if err != nil {
		return nil, err
	}
	return value.OfBool(s.Matches(args[1])), nil
}

func selectorError(_ *expr.Call, args []value.Value) (value.Value, error) {
	if _, err := selector.Parse(args[0]); err != nil {
		return value.OfString(err.Error()), nil
	}
	return value.OfString(""), nil
}

func requirementError(_ *expr.Call, args []value.Value) (value.Value, error) {
	key, _ := value.Str(args[0])
	operator, _ := value.Str(args[1])
	_, err := labels.NewRequirement(key, selection.Operator(operator), value.Strings(args[2]))
	if err != nil {
		return value.OfString(err.Error()), nil
	}
	return value.OfString(""), nil
}
