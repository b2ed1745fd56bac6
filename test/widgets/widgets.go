// Package widgets holds the kind of object that tests of expressions use, and
// values for the names that a policy has.
package widgets

import (
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

var (
	text    = &schema.Type{Kind: schema.String}
	whole   = &schema.Type{Kind: schema.Int}
	truth   = &schema.Type{Kind: schema.Bool}
	instant = &schema.Type{Kind: schema.Time}
)

// Part is the type of the items of spec.parts and status.parts.
var Part = &schema.Type{Kind: schema.Object, Name: "Part", Fields: map[string]*schema.Type{"name": text, "size": whole, "zone": text}}

// Condition is the type of the items of status.conditions.
var Condition = &schema.Type{Kind: schema.Object, Name: "Condition", Fields: map[string]*schema.Type{
	"type": text, "status": text, "reason": text, "message": text, "lastTransitionTime": instant, "observedGeneration": whole,
}}

// Type is the type of a widget. It has fields of every kind.
var Type = &schema.Type{Kind: schema.Object, Name: "Widget", Fields: map[string]*schema.Type{
	"metadata": schema.Metadata(),
	"spec": {Kind: schema.Object, Name: "Widget.spec", Fields: map[string]*schema.Type{
		"nodeName": text, "replicas": whole, "paused": truth, "startTime": instant, "selector": schema.Any, "free": schema.Any,
		"limits": {Kind: schema.Map, Elem: text}, "zones": {Kind: schema.List, Elem: text}, "parts": {Kind: schema.List, Elem: Part}, "weight": {Kind: schema.Double},
	}},
	"status": {Kind: schema.Object, Name: "Widget.status", Fields: map[string]*schema.Type{
		"phase": {Kind: schema.String, Enum: []string{"Pending", "Ready"}}, "message": text, "ready": truth, "since": instant, "parts": {Kind: schema.List, Elem: Part},
		"conditions": {Kind: schema.List, Elem: Condition},
	}},
}}

// Object makes a widget of plain JSON values.
func Object(plain map[string]any) value.Value { return value.Freeze(plain, Type, value.KeepAll) }

// Texts makes a list of texts.
func Texts(list ...string) *value.List {
	items := make([]value.Value, len(list))
	for i, s := range list {
		items[i] = value.OfString(s)
	}
	return value.NewList(items)
}

// Params returns the params of the policy, by the names that expressions use.
func Params() map[string]value.Value {
	return map[string]value.Value{
		"params.label": value.OfString("zone"), "params.limit": value.OfInt(3),
		"params.labels": Texts("zone", "rack"),
	}
}

// Scope gives values by name. It is an expr.Scope.
type Scope map[string]value.Value

// ResolveName returns the value of a name; found is false when it has none.
func (s Scope) ResolveName(name string) (v any, found bool) {
	v, found = s[name]
	return v, found
}

// Parent returns nil: all names are in the scope itself.
func (Scope) Parent() interpreter.Activation { return nil }
