package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Tree writes the checked syntax tree of a program, with the types of names and
// fields and the overloads of calls: programs with the same tree compute the
// same, whatever their layout, comments and spelling of names.
func Tree(p *cel.Program) string {
	w := treeWriter{ast: p.Tree()}
	w.expr(w.ast.Expr())
	return w.String()
}

type treeWriter struct {
	strings.Builder
	ast *ast.AST
}

func (w *treeWriter) expr(e ast.Expr) {
	w.WriteByte('(')
	switch e.Kind() {
	case ast.LiteralKind:
		v := e.AsLiteral()
		fmt.Fprintf(w, "%s %q", v.Type().TypeName(), fmt.Sprint(v.Value()))
	case ast.IdentKind:
		fmt.Fprintf(w, "name %s %s", e.AsIdent(), w.ast.GetType(e.ID()))
	case ast.SelectKind:
		s := e.AsSelect()
		fmt.Fprintf(w, "field %q %t %s", s.FieldName(), s.IsTestOnly(), w.ast.GetType(e.ID()))
	case ast.CallKind:
		fmt.Fprintf(w, "call %s", e.AsCall().FunctionName())
		w.overloads(e)
	case ast.ListKind:
		fmt.Fprintf(w, "list %v", e.AsList().OptionalIndices())
	case ast.MapKind:
		w.WriteString("map")
		for _, entry := range e.AsMap().Entries() {
			fmt.Fprintf(w, " %t", entry.AsMapEntry().IsOptional())
		}
	case ast.ComprehensionKind:
		w.loop(e.AsComprehension())
	}
	for _, child := range cel.Children(e) {
		w.expr(child)
	}
	w.WriteByte(')')
}

func (w *treeWriter) overloads(e ast.Expr) {
	reference, ok := w.ast.ReferenceMap()[e.ID()]
	if !ok {
		return
	}
	ids := slices.Sorted(slices.Values(reference.OverloadIDs))
	fmt.Fprintf(w, " %s", strings.Join(ids, ","))
}

func (w *treeWriter) loop(c ast.ComprehensionExpr) {
	fmt.Fprintf(w, "loop %s %s %s", c.IterVar(), c.IterVar2(), c.AccuVar())
	for _, part := range []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
		w.expr(part)
	}
}
