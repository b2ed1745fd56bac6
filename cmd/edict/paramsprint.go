package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// shownParam is a param as it is printed.
type shownParam struct {
	Policy      string   `json:"policy"`
	Param       string   `json:"param"`
	Type        string   `json:"type"`
	Value       any      `json:"value"`
	Default     any      `json:"default"`
	Source      string   `json:"source"`
	Minimum     string   `json:"minimum,omitempty"`
	Maximum     string   `json:"maximum,omitempty"`
	MinLength   string   `json:"minLength,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Items       []string `json:"itemsEnum,omitempty"`
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Position    string   `json:"position"`
}

func shownParams(policies []*plan.Policy) []shownParam {
	out := []shownParam{}
	for _, p := range policies {
		for _, i := range p.ParamInfo {
			out = append(out, shownParam{
				Policy: p.ID(), Param: i.Name, Type: i.Type, Value: value.Plain(i.Value), Default: value.Plain(i.Default),
				Source: cmp.Or(i.From, "default"), Minimum: i.Minimum, Maximum: i.Maximum, MinLength: i.MinLength,
				Enum: i.Enum, Items: i.Items, Description: i.Description, Required: i.Required, Position: i.Pos.String(),
			})
		}
	}
	return out
}

// allowed says in short which values a param takes.
func (p shownParam) allowed() string {
	var parts []string
	for _, bound := range []struct{ before, value string }{
		{">= ", p.Minimum}, {"<= ", p.Maximum}, {"length >= ", p.MinLength}, {"", strings.Join(p.Enum, "|")}, {"items ", strings.Join(p.Items, "|")},
	} {
		if bound.value != "" {
			parts = append(parts, bound.before+bound.value)
		}
	}
	if p.Required {
		parts = append(parts, "required in a cluster")
	}
	return strings.Join(parts, ", ")
}

// printParams shows the params in lines; a long value is cut, -o yaml shows it.
func printParams(w io.Writer, list []shownParam) error {
	rows := [][]string{{"POLICY", "PARAM", "TYPE", "VALUE", "SOURCE", "DEFAULT", "ALLOWED", "DESCRIPTION"}}
	for _, p := range list {
		rows = append(rows, []string{p.Policy, p.Param, p.Type, short(p.Value), p.Source, short(p.Default), p.allowed(), p.Description})
	}
	return table(w, rows)
}

// shortLength is how much of a value a table shows.
const shortLength = 40

func short(v any) string {
	text, isText := v.(string)
	if !isText || text == "" {
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		text = string(raw)
	}
	if runes := []rune(text); len(runes) > shortLength {
		return string(runes[:shortLength-3]) + "..."
	}
	return text
}
