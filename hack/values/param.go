package main

import (
	"encoding/json"
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// param is the schema of the values of a param. What it cannot express is left
// to the webhook: bounds of a duration other than its sign and zero.
func param(p plan.ParamInfo) object {
	out := kinds[p.Type](p)
	if p.Description != "" {
		out["description"] = p.Description
	}
	if len(p.Enum) > 0 {
		out["enum"] = literals(p.Type, p.Enum)
	}
	return out
}

// kinds are the types that a param may have.
var kinds = map[string]func(plan.ParamInfo) object{
	"string":   func(p plan.ParamInfo) object { return sized(p, "string", "minLength") },
	"list":     list,
	"map":      func(p plan.ParamInfo) object { return sized(p, "object", "minProperties") },
	"int":      func(p plan.ParamInfo) object { return bounded(p, "integer") },
	"double":   func(p plan.ParamInfo) object { return bounded(p, "number") },
	"bool":     func(plan.ParamInfo) object { return object{"type": "boolean"} },
	"duration": duration,
	"selector": func(plan.ParamInfo) object { return labelSelector() },
}

func sized(p plan.ParamInfo, kind, least string) object {
	out := object{"type": kind}
	if p.MinLength != "" {
		out[least] = json.Number(p.MinLength)
	}
	return out
}

func bounded(p plan.ParamInfo, kind string) object {
	out := object{"type": kind}
	for field, bound := range map[string]string{"minimum": p.Minimum, "maximum": p.Maximum} {
		if bound != "" {
			out[field] = json.Number(bound)
		}
	}
	return out
}

// list types the items by the default: expressions are written for such items.
func list(p plan.ParamInfo) object {
	out := sized(p, "array", "minItems")
	items, _ := p.Default.(*value.List)
	switch {
	case len(p.Items) > 0:
		out["items"] = object{"enum": literals("string", p.Items)}
	case items != nil && items.Len() > 0 && len(value.Strings(items)) == items.Len():
		out["items"] = object{"type": "string"}
	}
	return out
}

// literals are values as they were written in a policy.
func literals(kind string, texts []string) (out []any) {
	for _, text := range texts {
		if kind == "int" || kind == "double" {
			out = append(out, json.Number(text))
			continue
		}
		out = append(out, text)
	}
	return out
}

const (
	number = `([0-9]+(\.[0-9]*)?|\.[0-9]+)`
	unit   = `(ns|us|µs|μs|ms|s|m|h)`
	zero   = `(0+(\.0*)?|\.0+)`
)

// duration is what Go reads as one.
func duration(p plan.ParamInfo) object {
	sign := "[-+]?"
	out := object{"type": "string"}
	if least, err := time.ParseDuration(p.Minimum); err == nil && least >= 0 {
		sign = "[+]?"
		if least > 0 {
			out["not"] = object{"pattern": "^[+]?(0|(" + zero + unit + ")+)$"}
		}
	}
	out["pattern"] = "^" + sign + "(0|(" + number + unit + ")+)$"
	return out
}

const (
	labelKey   = `([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?`
	labelValue = `([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?`
	// In a text only the form is looked at: a refusal shows the pattern.
	key         = `\s*[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?\s*`
	values      = `\s*[A-Za-z0-9_.-]*\s*`
	requirement = `(!` + key + `|` + key + `((=|==|!=)` + values + `|(in|notin)\s*\(` + values + `(,` + values + `)*\)\s*|[<>]\s*-?[0-9]+\s*)?)`
)

// labelSelector is one as kubectl reads it, or one as in a workload.
func labelSelector() object {
	text := object{"type": "string", "pattern": "^" + labelValue + "$"}
	return object{
		"type":                 []string{"string", "object"},
		"pattern":              `^\s*(` + requirement + `(,` + requirement + `)*)?$`,
		"additionalProperties": false,
		"properties": object{
			"matchLabels": object{
				"type": "object", "additionalProperties": false, "patternProperties": object{"^" + labelKey + "$": text},
			},
			"matchExpressions": object{"type": "array", "items": object{
				"type": "object", "additionalProperties": false, "required": []string{"key", "operator"},
				"properties": object{
					"key":      object{"type": "string", "pattern": "^" + labelKey + "$"},
					"operator": object{"enum": []string{"In", "NotIn", "Exists", "DoesNotExist"}},
					"values":   object{"type": "array", "items": text},
				},
			}},
		},
	}
}
