package lsp

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/lsp/rpc"
)

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// refuse is the answer to a request that cannot be done.
func refuse(format string, args ...any) error {
	return &rpc.Error{Code: rpc.RequestFailed, Message: fmt.Sprintf(format, args...)}
}

// renaming is where a name is written that gets another one.
type renaming struct {
	name, to string
	at       []document.Position
}

func (s *Server) rename(_ context.Context, p at) (any, error) {
	a, err := s.analysis(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	if !identifier.MatchString(p.NewName) {
		return nil, refuse("%q is no name: letters, digits and _ are", p.NewName)
	}
	r, err := a.renaming(a.text.place(p.Position), p.NewName)
	if err != nil {
		return nil, err
	}
	if err := s.try(a, r); err != nil {
		return nil, err
	}
	var edits []textEdit
	for _, at := range r.at {
		edits = append(edits, textEdit{a.text.until(at, len([]rune(r.name))), r.to})
	}
	return workspaceEdit{Changes: map[string][]textEdit{a.text.uri: edits}}, nil
}

// renaming returns what is to be written when the name at a place gets another one.
func (a *analysis) renaming(place document.Position, to string) (*renaming, error) {
	if l := a.loopAt(place); l != nil {
		return l.renaming(to)
	}
	d := a.named(place)
	switch {
	case d == nil:
		return nil, refuse("there is no name here that can be renamed: params, inputs, children, variables, items and names of loops can")
	case d.local:
		return a.localRenaming(d, to)
	}
	qualifier, old, _ := strings.Cut(d.full, ".")
	if other := a.declaration(qualifier+"."+to, place); other != nil {
		return nil, refuse("there is %s already, on line %d", other.full, other.name.Pos.Line)
	}
	r := &renaming{name: old, to: to, at: append([]document.Position{d.name.At(0)}, uses(a.root(place), qualifier, old)...)}
	r.sort()
	return r, nil
}

// sort orders the places; one that an alias of YAML repeats is written once.
func (r *renaming) sort() {
	slices.SortFunc(r.at, func(a, b document.Position) int { return cmp.Or(compare(a, b), cmp.Compare(a.File, b.File)) })
	r.at = slices.Compact(r.at)
}

// try reports an error that a text without errors has with the new name, such as that
// it is reserved.
func (s *Server) try(a *analysis, r *renaming) error {
	if document.HasErrors(a.problems) {
		return nil
	}
	after, err := s.load(newText(a.text.uri, r.text(a.text)))
	if err != nil {
		return err
	}
	for _, p := range after.problems {
		if p.Severity == document.Error {
			return refuse("with the name %s there is an error on line %d: %s", r.to, p.Line, p.Message)
		}
	}
	return nil
}

// text returns a text with the new name.
func (r *renaming) text(t *textOf) string {
	lines := strings.Split(t.text, "\n")
	for _, at := range slices.Backward(r.at) {
		line := []rune(lines[at.Line-1])
		lines[at.Line-1] = string(line[:at.Column-1]) + r.to + string(line[at.Column-1+len([]rune(r.name)):])
	}
	return strings.Join(lines, "\n")
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
	runes := []rune(text)
	out := slices.Repeat([]rune{' '}, len(runes))
	for i, r := range cel.Code(runes, 0, len(runes)) {
		out[i] = r
	}
	return string(out)
}
