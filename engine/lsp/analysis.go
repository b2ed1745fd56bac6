package lsp

import (
	"context"
	"slices"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/source"
)

// analysis is what is known of a document.
type analysis struct {
	text *textOf
	// bundle are the policies of the folder.
	bundle   *source.Bundle
	problems []document.Problem
	related  check.Related
	seen     []seen
	// others returns the text of another file.
	others func(path string) *textOf
}

// seen is an expression or a template of a policy, with the names that it may use.
type seen struct {
	policy string
	node   *document.Node
	env    *cel.Env
	// whole says that the compiler was told of the scalar itself, not of a template
	// that it is a part of.
	whole bool
}

// analyse compiles a document as the editor has it, to be told of its expressions.
func (s *Server) analyse(t *textOf) (*analysis, error) {
	a, err := s.load(t)
	if err != nil {
		return nil, err
	}
	for _, u := range a.bundle.Units {
		if u.Document.Pos.File != a.text.path {
			continue
		}
		if err := a.compile(u); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// compile compiles a policy once more, to be told of its expressions.
func (a *analysis) compile(u *source.Unit) error {
	with := *u
	with.Seen = func(told *document.Node, env *cel.Env) {
		env = env.WithBudget(nil)
		visitFields(told, "", func(_ string, n *document.Node) {
			if n.Kind == document.String && n.Written() && n.Pos.File == a.text.path {
				a.seen = append(a.seen, seen{u.Name(), n, env, n == told})
			}
		})
	}
	_, _, err := source.NewCompiler(nil, nil).Compile(context.Background(), &with, a.bundle.Schemas)
	return err
}

// unitAt returns the policy that a place is in, the first of a document for several
// kinds; nil when it is in none.
func (a *analysis) unitAt(p document.Position) (out *source.Unit) {
	for _, u := range a.bundle.Units {
		if first := out == nil || out.Document.Pos != u.Document.Pos; first && u.Document.Pos.File == a.text.path && compare(u.Document.Pos, p) <= 0 {
			out = u
		}
	}
	return out
}

// cursor is a place in an expression.
type cursor struct {
	// text is the expression, offset the place in it, in characters.
	text   string
	offset int
	env    *cel.Env
	// others are the names in the policies for the other kinds of the document.
	others []*cel.Env
	node   *document.Node
	// start is where in the node's value the expression begins.
	start int
}

// cursorAt returns the expression at a place; nil when there is none.
func (a *analysis) cursorAt(p document.Position) *cursor {
	for _, s := range slices.Backward(a.seen) {
		n := s.node
		offset, inside := offsetIn(n, p)
		if !inside {
			continue
		}
		for _, e := range expressionsOf(n, s.whole && isExpression(a.root(p), n)) {
			if offset >= e.start && offset <= e.start+len([]rune(e.text)) {
				return &cursor{text: e.text, offset: offset - e.start, env: s.env, others: a.otherKinds(s), node: n, start: e.start}
			}
		}
	}
	return nil
}

// otherKinds returns the names that an expression may use in the policies for the other kinds
// of its document.
func (a *analysis) otherKinds(of seen) (out []*cel.Env) {
	known := map[string]bool{of.policy: true}
	for _, s := range slices.Backward(a.seen) {
		if s.node == of.node && !known[s.policy] {
			known[s.policy], out = true, append(out, s.env)
		}
	}
	return out
}

// root returns the document that a place is in.
func (a *analysis) root(p document.Position) *document.Node {
	if u := a.unitAt(p); u != nil {
		return u.Document.Node
	}
	return nil
}

// offsetIn returns the character of a scalar's value at a place, and whether the
// place is in it.
func offsetIn(n *document.Node, p document.Position) (offset int, inside bool) {
	size := len([]rune(n.Text))
	if compare(n.At(0), p) > 0 || compare(n.At(size), p) < 0 && !beyond(n, p, size) {
		return 0, false
	}
	for offset < size && compare(n.At(offset+1), p) <= 0 {
		offset++
	}
	return offset, true
}

// beyond reports whether a place is in the white space that YAML takes off the end of
// a scalar.
func beyond(n *document.Node, p document.Position, size int) bool {
	end := n.At(size)
	return end.Line == p.Line && p.Column == end.Column+1 && !n.Quoted
}
