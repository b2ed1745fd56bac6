package explore

import (
	"strings"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// Text is what a policy says.
type Text struct {
	File string `json:"file"`
	// First is the number of the first of the lines.
	First   int      `json:"first"`
	Lines   []string `json:"lines"`
	Modules []Module `json:"modules"`
}

// Module is a Rego module beside the policy.
type Module struct {
	Name  string   `json:"name"`
	Lines []string `json:"lines"`
}

// Text returns the text of a policy, of the other revision if against is set.
func (w *World) Text(policy string, against bool) (*Text, error) {
	policies, err := w.policies(Variant{Against: against})
	if err != nil {
		return nil, err
	}
	p, err := policyOf(policies, policy)
	if err != nil {
		return nil, err
	}
	b := w.options.Bundle
	if against {
		b = w.options.Against
	}
	return textOf(b, p), nil
}

func textOf(b *source.Bundle, p *plan.Policy) *Text {
	out := &Text{File: p.Source.File, First: 1, Lines: []string{}, Modules: []Module{}}
	u := unitOf(b, p)
	if u == nil {
		return out
	}
	out.First, out.Lines = documentAt(linesOf(string(u.File.Text)), p.Source.Line)
	for _, m := range u.Modules {
		if !m.IsTest() {
			out.Modules = append(out.Modules, Module{Name: m.Name, Lines: linesOf(m.Text)})
		}
	}
	return out
}

func linesOf(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// documentAt returns the lines of the YAML document that has a line, and the number
// of the first of them.
func documentAt(lines []string, line int) (first int, own []string) {
	begin, end := 0, len(lines)
	for i, text := range lines {
		switch {
		case !strings.HasPrefix(text, "---"):
		case i < line-1:
			begin = i + 1
		case i > line-1:
			return begin + 1, lines[begin:i]
		}
	}
	return begin + 1, lines[begin:end]
}
