package explore

import (
	"cmp"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/value"
)

// Param describes a param: what may be set, and what is in force.
type Param struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Value       any      `json:"value"`
	Default     any      `json:"default"`
	From        string   `json:"from,omitempty"`
	Minimum     string   `json:"minimum,omitempty"`
	Maximum     string   `json:"maximum,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Description string   `json:"description,omitempty"`
}

func describe(p *plan.Policy) Policy {
	out := Policy{
		Name: p.ID(), Revision: p.Revision, Mode: string(p.Mode), Kind: p.Primary.Kind, File: p.Source.File,
		Selects: p.HasSelections, Hidden: record.SeesValues(p), Params: []Param{},
	}
	for _, i := range p.ParamInfo {
		out.Params = append(out.Params, Param{
			Name: i.Name, Type: i.Type, Value: value.Plain(i.Value), Default: value.Plain(i.Default), From: i.From,
			Minimum: i.Minimum, Maximum: i.Maximum, Enum: i.Enum, Description: i.Description,
		})
	}
	return out
}

func compareTexts(a, b string) int { return cmp.Compare(a, b) }
