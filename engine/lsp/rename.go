package lsp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/lsp/rpc"
)

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

func (s *Server) rename(_ context.Context, p at) (any, error) {
	a, err := s.analysis(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	place := a.place(p.Position)
	d := a.named(place)
	switch {
	case d == nil || d.local:
		return nil, &rpc.Error{Code: rpc.RequestFailed, Message: "only params, inputs, children and variables of the policy can be renamed"}
	case !identifier.MatchString(p.NewName):
		return nil, &rpc.Error{Code: rpc.RequestFailed, Message: fmt.Sprintf("%q is no name: letters, digits and _ are", p.NewName)}
	}
	qualifier, old, _ := strings.Cut(d.full, ".")
	if other := a.declaration(qualifier+"."+p.NewName, place); other != nil {
		return nil, &rpc.Error{Code: rpc.RequestFailed, Message: fmt.Sprintf("there is %s already, on line %d", other.full, other.name.Pos.Line)}
	}
	edits := []textEdit{{a.until(d.name.At(0), len([]rune(old))), p.NewName}}
	for _, at := range uses(a.root(place), qualifier, old) {
		edits = append(edits, textEdit{a.until(at, len([]rune(old))), p.NewName})
	}
	return workspaceEdit{Changes: map[string][]textEdit{a.uri: edits}}, nil
}

// uses returns where a name is used in the expressions of a document, without its
// qualifier.
func uses(root *document.Node, qualifier, name string) (out []document.Position) {
	use := regexp.MustCompile(`(?:^|[^\w.])` + qualifier + `\.(` + regexp.QuoteMeta(name) + `)(?:\W|$)`)
	visitFields(root, "", func(field string, n *document.Node) {
		if n.Kind == document.String && field == "after" && qualifier == "children" && n.Text == name {
			out = append(out, n.At(0))
		}
		if n.Kind != document.String {
			return
		}
		for _, e := range expressionsOf(n, slices.Contains(expressionFields, field)) {
			out = append(out, usesIn(n, e, use)...)
		}
	})
	return out
}

// usesIn returns where a name is used in an expression.
func usesIn(n *document.Node, e part, use *regexp.Regexp) (out []document.Position) {
	text := withoutLiterals(e.text)
	for from := 0; ; {
		m := use.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return out
		}
		out = append(out, n.At(e.start+len([]rune(text[:from+m[2]]))))
		from += m[3]
	}
}

// withoutLiterals returns an expression with blanks in place of what stands in
// quotes.
func withoutLiterals(text string) string {
	out, quote := []byte(text), byte(0)
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote != 0 && c == '\\' && i+1 < len(out):
			out[i], out[i+1] = ' ', ' '
			i++
		case c == quote:
			quote = 0
		case quote != 0 && c < 0x80:
			out[i] = ' '
		}
	}
	return string(out)
}
