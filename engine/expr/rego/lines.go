package rego

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/edict-dev/edict/engine/document"
)

// Line is a line of a module on which something is evaluated.
type Line struct {
	// At is the beginning of the line, in the file that the author sees.
	At   document.Position
	Text string
}

// Lines returns the lines that the query may evaluate, in the order of the files:
// heads of rules, and expressions.
func (q *Query) Lines() (out []Line) {
	for _, r := range q.library.reachable(q.name) {
		for _, at := range r.Lines {
			out = append(out, q.library.lineAt(at))
		}
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line))
	})
	return slices.Compact(out)
}

func (l *Library) lineAt(in document.Position) Line {
	at, text := l.at(in)
	return Line{document.Position{File: at.File, Line: at.Line, Column: 1}, strings.TrimSpace(text)}
}

type tracedKey struct{}

// Traced returns a context in which queries call seen with every line that they
// evaluate.
func Traced(ctx context.Context, seen func(Line)) context.Context {
	return context.WithValue(ctx, tracedKey{}, seen)
}

type placesKey struct{}

// do asks the evaluator. To be followed, an answer of another process is evaluated again in
// this one: it is known to stay within the limits.
func (l *Library) do(ctx context.Context, r *Request) ([]byte, error) {
	traced := l.traced(ctx)
	out, err := l.in.Do(traced, r)
	if err == nil && traced != ctx && l.in != Local() {
		_, err = Local().Do(traced, r)
	}
	return out, err
}

// traced passes on where an evaluation is, if somebody wants to know.
func (l *Library) traced(ctx context.Context) context.Context {
	seen, ok := ctx.Value(tracedKey{}).(func(Line))
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, placesKey{}, func(at document.Position) { seen(l.lineAt(at)) })
}

// lineTracer follows an evaluation.
type lineTracer struct {
	sources sources
	seen    func(document.Position)
}

var _ topdown.QueryTracer = (*lineTracer)(nil)

// Enabled implements topdown.QueryTracer.
func (*lineTracer) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (*lineTracer) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer.
func (t *lineTracer) TraceEvent(e topdown.Event) {
	switch n := e.Node.(type) {
	case *ast.Rule:
		if e.Op == topdown.ExitOp {
			t.at(n.Head.Location)
		}
	case *ast.Expr:
		if e.Op == topdown.EvalOp {
			t.at(n.Location)
		}
	}
}

func (t *lineTracer) at(loc *ast.Location) {
	if at := t.sources.at(loc); at != (document.Position{}) {
		t.seen(at)
	}
}

// linesOf returns where the head and the expressions of a rule stand.
func (p *program) linesOf(r *ast.Rule) (out []document.Position) {
	add := func(loc *ast.Location) {
		if at := p.sources.at(loc); at != (document.Position{}) {
			out = append(out, at)
		}
	}
	add(r.Head.Location)
	ast.WalkExprs(r, func(e *ast.Expr) bool {
		if _, declares := e.Terms.(*ast.SomeDecl); !declares {
			add(e.Location)
		}
		return false
	})
	slices.SortFunc(out, func(a, b document.Position) int { return cmp.Compare(a.Line, b.Line) })
	return slices.CompactFunc(out, func(a, b document.Position) bool { return a.Line == b.Line })
}
