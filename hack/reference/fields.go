package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// documents are those that are described.
var documents = []string{"policy", "policytest", "allowances", "answers", "timeline"}

// schema is as much of a JSON schema as says what a document may hold.
type schema struct {
	Description string             `json:"description"`
	Type        any                `json:"type"`
	Ref         string             `json:"$ref"`
	AllOf       []*schema          `json:"allOf"`
	AnyOf       []*schema          `json:"anyOf"`
	OneOf       []*schema          `json:"oneOf"`
	Items       *schema            `json:"items"`
	Enum        []any              `json:"enum"`
	Required    []string           `json:"required"`
	Properties  map[string]*schema `json:"properties"`
	Definitions map[string]*schema `json:"definitions"`
}

// fields describes a document, and each type in it.
func fields(folder, name string) (string, error) {
	file, err := os.ReadFile(filepath.Join(folder, name+".schema.json"))
	if err != nil {
		return "", err
	}
	s := schema{Definitions: map[string]*schema{}}
	if err := json.Unmarshal(file, &s); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	var out strings.Builder
	w := writer{headings[name]}
	maps.Copy(s.Definitions, s.Properties)
	fmt.Fprintf(&out, "## %s\n\n%s\n\n%s", w.document, s.Description, w.table(&s))
	for _, d := range slices.Sorted(maps.Keys(s.Definitions)) {
		if of := mapping(s.Definitions[d]); of != nil {
			fmt.Fprintf(&out, "### %s of %s\n\n%s\n\n%s", d, w.document, of.Description, w.table(of))
		}
	}
	return out.String(), nil
}

var headings = map[string]string{"policy": "Policy", "policytest": "PolicyTest", "allowances": "Allowances", "answers": "answers file", "timeline": "timeline file"}

// writer describes the types of one document.
type writer struct{ document string }

// mapping returns what a type says of its fields, also of one that may be a text
// instead; nil when it has none.
func mapping(s *schema) *schema {
	for _, one := range slices.Concat([]*schema{s}, s.AnyOf, s.OneOf, s.AllOf) {
		if len(one.Properties) > 0 {
			return one
		}
	}
	return nil
}

// table lists the fields of a mapping.
func (w writer) table(s *schema) string {
	if len(s.Properties) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("| Field | Value | Meaning |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		said := p.Description
		if slices.Contains(s.Required, name) {
			said = "**required** " + said
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", name, cell(w.kind(p)), cell(said))
	}
	return out.String() + "\n"
}

// kind says what a field may hold.
func (w writer) kind(s *schema) string {
	switch {
	case s == nil:
		return "anything"
	case len(s.Enum) > 0:
		return enum(s.Enum)
	case s.Ref != "":
		anchor := strings.ReplaceAll(strings.ToLower(nameOf(s.Ref)+" of "+w.document), " ", "-")
		return "[" + nameOf(s.Ref) + "](#" + anchor + ")"
	case s.Items != nil:
		return "list of " + w.kind(s.Items)
	}
	for _, list := range [][]*schema{s.AllOf, s.AnyOf, s.OneOf} {
		if out := w.kinds(list); out != "" {
			return out
		}
	}
	return scalar(s)
}

func (w writer) kinds(list []*schema) string {
	var out []string
	for _, s := range list {
		if k := w.kind(s); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return strings.Join(out, " or ")
}

func scalar(s *schema) string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		var out []string
		for _, one := range t {
			out = append(out, fmt.Sprint(one))
		}
		return strings.Replace(strings.Join(out, " or "), text, "text", 1)
	}
	return "anything"
}

// text is what a scalar may be: YAML's kind does not matter.
const text = "string or number or boolean"

func enum(values []any) string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("`%v`", v))
	}
	return strings.Join(out, ", ")
}

func nameOf(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }
