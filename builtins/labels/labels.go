// Package labels offers Kubernetes label selectors as values: matching, and
// apimachinery's own words for what is wrong with one.
package labels

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns labels.matches, labels.matchesMap, labels.selectorError and
// labels.requirementError.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "labels.matches", Args: []expr.Type{expr.Dyn, expr.Dyn}, Result: expr.Bool,
			Doc:     "whether labels satisfy a selector (a LabelSelector or its text form); an absent one matches nothing, an empty one everything, and a malformed one is an error",
			Example: `labels.matches(object.spec.?selector, item.metadata.?labels)`,
			Bounded: true,
			Match:   expr.MatchSelector, StandIns: []value.Value{value.Null, value.Null},
			Reject: rejectSelector,
			Needs:  selectorNeed(0),
			Do:     matches,
		},
		{
			Name: "labels.matchesMap", Args: []expr.Type{expr.Dyn, expr.Dyn}, Result: expr.Bool,
			Doc:     "whether labels have all the keys and values of a map, as the selector of a Service; an absent or empty map matches nothing",
			Example: `labels.matchesMap(object.spec.?selector, item.metadata.?labels)`,
			Bounded: true,
			Match:   expr.MatchMap, StandIns: []value.Value{value.Null, value.Null},
			Reject: rejectMap,
			Needs:  expr.Linear(0),
			Do:     matchesMap,
		},
		{
			Name: "labels.selectorError", Args: []expr.Type{expr.Dyn}, Result: expr.String,
			Doc:     "what is wrong with a selector, in the API server's words; \"\" when nothing is",
			Example: `labels.selectorError(object.spec.?nodeLabelSelector)`,
			Needs:   selectorNeed(errorBytes),
			Do:      selectorError,
		},
		{
			Name: "labels.requirementError", Args: []expr.Type{expr.String, expr.String, expr.ListOf(expr.String)}, Result: expr.String,
			Doc:     "what is wrong with one requirement (key, operator such as in or exists, values); \"\" when nothing is",
			Example: `labels.requirementError("topology.kubernetes.io/zone", "in", object.spec.zones)`,
			Needs:   requirementNeed,
			Do:      requirementError,
		},
	}
}

// errorBytes is how many times a selector's bytes a message about it may have.
const errorBytes = 8

// selectorNeed is for reading a selector: a text of a few bytes can be a
// requirement of its own.
func selectorNeed(times int) func(args []value.Value) expr.Need {
	return func(args []value.Value) expr.Need {
		bytes := 0
		for _, a := range args {
			bytes += value.Deep(a)
		}
		work := 1 + expr.Units(value.Size(value.Unwrap(args[0])), 10)
		if text, ok := value.Str(value.Unwrap(args[0])); ok {
			work = 1 + expr.Units(len(text), 1)
		} else if bytes > largeSelector {
			work += expr.Units(bytes, 100)
		}
		need := expr.Need{Work: work, Scratch: scratchPerByte * bytes}
		if times > 0 {
			need.Text = 1024 + times*bytes
		}
		return need
	}
}

// requirementNeed is for reading each value of a requirement.
func requirementNeed(args []value.Value) expr.Need {
	need := selectorNeed(errorBytes)(args)
	need.Work = 20 + expr.Units(need.Scratch/scratchPerByte, 1)
	return need
}

const (
	// largeSelector is where the bytes of a selector begin to count.
	largeSelector = 4 << 10
	// scratchPerByte is what a requirement takes in memory for each of its bytes.
	scratchPerByte = 128
)

func matches(_ *expr.Call, args []value.Value) (value.Value, error) {
	s, err := selector.Parse(args[0])
	if err != nil {
		return nil, err
	}
	return value.OfBool(s.Matches(args[1])), nil
}

// rejectSelector finds what can be no selector: a map of texts, such as the
// selector of a Service, is no LabelSelector.
func rejectSelector(args []expr.Type) string {
	switch of := args[0]; {
	case of.Name == expr.String.Name || of.Name == expr.Dyn.Name || of.Name == expr.Object.Name || of.Name == "null":
		return ""
	case of.Name == "map" && of.Of[0].Name == expr.String.Name:
		return "labels.matches takes a LabelSelector or its text form, not a map of labels: use labels.matchesMap(map, labels)"
	case of.Name == "map":
		return ""
	default:
		return "labels.matches takes a LabelSelector or its text form, not " + of.String()
	}
}

func rejectMap(args []expr.Type) string {
	of := args[0]
	if of.Name == expr.Dyn.Name || of.Name == "map" && (of.Of[0].Name == expr.String.Name || of.Of[0].Name == expr.Dyn.Name) {
		return ""
	}
	return "labels.matchesMap takes a map of labels, not " + of.String() + ": labels.matches takes a LabelSelector"
}

// matchesMap follows the API server's rule for Services: one without a selector
// selects nothing.
func matchesMap(_ *expr.Call, args []value.Value) (value.Value, error) {
	wanted, ok := value.Unwrap(args[0]).(*value.Map)
	if !ok {
		if value.IsNull(value.Unwrap(args[0])) {
			return value.OfBool(false), nil
		}
		return nil, fmt.Errorf("a map of labels is needed, not %s", args[0].Type().TypeName())
	}
	have, _ := value.Unwrap(args[1]).(*value.Map)
	for i := range wanted.Len() {
		key, v := wanted.At(i)
		text, isText := value.Str(v)
		if !isText {
			return nil, fmt.Errorf("the value of %q in a map of labels is no text", key)
		}
		if have == nil {
			return value.OfBool(false), nil
		}
		if got, there := value.Str(have.Lookup(key)); !there || got != text {
			return value.OfBool(false), nil
		}
	}
	return value.OfBool(wanted.Len() > 0), nil
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
		return value.OfString(selector.Brief(err).Error()), nil
	}
	return value.OfString(""), nil
}
