package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/lsp/fielddoc"
	"github.com/edict-dev/edict/engine/schema"
)

func (s *Server) hover(_ context.Context, p at) (any, error) {
	a, err := s.analysis(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	place := a.text.place(p.Position)
	text := ""
	if c := a.cursorAt(place); c != nil {
		text = c.hover(a)
	} else {
		text = a.hoverField(place)
	}
	if text == "" {
		return nil, nil
	}
	return hover{markdown(text)}, nil
}

// operand returns the names and calls that lead to the word at the cursor; "" when
// there is no word.
func (c *cursor) operand() (text string, end int) {
	runes := []rune(c.text)
	end = wordEnd(runes, c.offset)
	if wordStart(runes, end) == end {
		return "", end
	}
	text = string(runes[chainStart(runes, end):end])
	if end < len(runes) && runes[end] == '.' && len(under(c.env, text)) > 0 { // on the word before the dot
		end = wordEnd(runes, end+1)
		text = string(runes[chainStart(runes, end):end])
	}
	return text, end
}

func (c *cursor) hover(a *analysis) string {
	operand, end := c.operand()
	if operand == "" {
		return ""
	}
	if f := c.env.Functions()[operand]; f != nil {
		return fmt.Sprintf("```\n%s\n```\n%s\n\n`%s`", f.Signature(), f.Doc, f.Example)
	}
	env := inner(c.env, []rune(c.text), end)
	of := env.TypeOfText(operand)
	if of == nil {
		return ""
	}
	out := fmt.Sprintf("```\n%s: %s\n```", operand, cel.TypeName(of))
	if d := a.declaration(operand, c.node.Pos); d != nil {
		out += fmt.Sprintf("\n%s, line %d", d.what, d.name.Pos.Line)
	}
	if text := a.describe(env, operand); text != "" {
		out += "\n" + text
	}
	return out
}

// describe returns what the schema says of the field that a chain of names ends in; ""
// when it is no field of a kind, or nothing is said of it.
func (a *analysis) describe(env *cel.Env, operand string) string {
	text := []rune(operand)
	start := wordStart(text, len(text))
	end := beforeDot(text, start)
	if end == start {
		return ""
	}
	parent := env.TypeOfText(string(text[:end]))
	if parent == nil {
		return ""
	}
	if t := env.Schema(cel.Unwrap(parent)); t != nil {
		return a.description(t, string(text[start:]))
	}
	return ""
}

// description returns what the schema says of a field.
func (a *analysis) description(t *schema.Type, field string) string {
	if text := a.bundle.Schemas.Description(t.Name, field); text != "" {
		return text
	}
	return fielddoc.Of(t.Name, field)
}

// hoverField describes the field of the document at a place.
func (a *analysis) hoverField(p document.Position) string {
	m := keyOf.FindStringSubmatch(a.text.line(p.Line - 1))
	if m == nil || p.Column-1 > len(m[1])+len(m[2])+len(m[3]) {
		return ""
	}
	column := len(m[1]) + len(m[2])
	if m[2] != "" {
		column = len(m[1]) + 1
	}
	description, _ := a.text.schemaAt(a.text.above(p.Line-1, column), p)[m[3]]["description"].(string)
	return strings.TrimSpace(description)
}
