// Package conditions reads and changes Kubernetes conditions: lists of objects with a type, a
// status and the time at which that changed.
package conditions

import (
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// Functions returns conditions.isTrue, conditions.find, conditions.since and conditions.set.
func Functions() []expr.Function {
	return []expr.Function{
		{
			Name: "conditions.isTrue", Args: arguments(), Result: expr.Bool,
			Doc:     `whether the condition of a type has the status "True"; false when the list or the condition is absent`,
			Example: `conditions.isTrue(object.?status.conditions, "Ready")`,
			Bounded: true, Reject: reject, Needs: need, Do: isTrue,
			Scans: &expr.Scan{Fields: []string{fieldType, fieldStatus}},
		},
		{
			Name: "conditions.find", Args: arguments(), Result: expr.OptionalOf(expr.Element),
			Doc:     "the condition of a type, the first if there are several; none when the list or the condition is absent",
			Example: `conditions.find(object.?status.conditions, "Ready").?reason.orValue("")`,
			Bounded: true, Reject: reject, Needs: need, Do: find,
			Scans: &expr.Scan{Fields: []string{fieldType}, Returns: true},
		},
		{
			Name: "conditions.since", Args: arguments(), Result: expr.OptionalOf(expr.Timestamp),
			Doc:     "since when the condition of a type has its status, its lastTransitionTime; none when the list, the condition or the time is absent",
			Example: `conditions.since(object.?status.conditions, "Ready").orValue(object.metadata.creationTimestamp)`,
			Bounded: true, Reject: reject, Needs: need, Do: since,
			Scans: &expr.Scan{Fields: []string{fieldType, fieldSince}},
		},
		setFunction(),
	}
}

// The fields of a condition.
const (
	fieldType   = "type"
	fieldStatus = "status"
	fieldSince  = "lastTransitionTime"
)

func arguments() []expr.Type {
	return []expr.Type{expr.MaybeOf(expr.ListOf(expr.Element)), expr.String}
}

// reject finds lists whose items can be no conditions.
func reject(args []expr.Type) string {
	if args[0].Name != "list" {
		return ""
	}
	switch of := args[0].Of[0]; of.Name {
	case expr.Object.Name, expr.Dyn.Name, "map":
		return ""
	default:
		return "a list of conditions is needed, such as object.?status.conditions, not list(" + of.String() + ")"
	}
}

// need is for comparing the type of each item.
func need(args []value.Value) expr.Need {
	items, _ := value.Unwrap(args[0]).(*value.List)
	if items == nil {
		return expr.Need{Work: 1}
	}
	n := items.Len()
	return expr.Need{Work: 1 + expr.Units(n, 10) + uint64(expr.Times(n, value.Size(args[1]))/1000)}
}

// condition returns the first condition of a type; nil when there is none.
func condition(args []value.Value) *value.Map {
	items, _ := value.Unwrap(args[0]).(*value.List)
	wanted, _ := value.Str(args[1])
	if items == nil {
		return nil
	}
	typeOf := value.AccessorOf(fieldType) // conditions of a list mostly have the same fields
	for _, item := range items.Items() {
		c, isMap := item.(*value.Map)
		if !isMap {
			continue
		}
		if kind, isText := value.Str(typeOf.Of(c)); isText && kind == wanted {
			return c
		}
	}
	return nil
}

func isTrue(_ *expr.Call, args []value.Value) (value.Value, error) {
	c := condition(args)
	if c == nil {
		return value.OfBool(false), nil
	}
	status, _ := value.Str(c.Lookup(fieldStatus))
	return value.OfBool(status == "True"), nil
}

func find(_ *expr.Call, args []value.Value) (value.Value, error) {
	if c := condition(args); c != nil {
		return value.Some(c), nil
	}
	return value.None, nil
}

// since takes the time as a text, too: the schema of a kind may not say that it is a
// time.
func since(_ *expr.Call, args []value.Value) (value.Value, error) {
	c := condition(args)
	if c == nil {
		return value.None, nil
	}
	at := c.Lookup(fieldSince)
	if text, isText := value.Str(at); isText {
		if parsed, err := time.Parse(time.RFC3339, text); err == nil {
			at = value.OfTime(parsed)
		}
	}
	if _, isTime := value.Time(at); isTime {
		return value.Some(at), nil
	}
	return value.None, nil
}
