package cel

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
)

// The qualifiers begin the declared names that have a dot in them.
const (
	QualifyParams    = "params"
	QualifyInputs    = "inputs"
	QualifyChildren  = "children"
	QualifyVariables = "variables"
	QualifyKey       = "key"
	QualifyError     = "error"
)

var qualifiers = []string{QualifyParams, QualifyInputs, QualifyChildren, QualifyVariables, QualifyKey, QualifyError}

// qualify returns a name with its qualifier, as expressions write it.
func qualify(qualifier, name string) string { return qualifier + "." + name }

// cutQualifier returns a name without its qualifier; false for a name that has
// another one.
func cutQualifier(name, qualifier string) (string, bool) {
	return strings.CutPrefix(name, qualifier+".")
}

// Names returns the names that an expression takes from outside of itself, as
// they are declared: "object", "variables.x", but also the variables of a loop
// around it. It needs no types, and sees through every spelling of a name.
func Names(e ast.Expr) map[string]bool {
	out := map[string]bool{}
	visitNames(e, nil, func(name string) { out[name] = true })
	return out
}

// visitNames visits every use of a name that is not bound in the expression.
func visitNames(e ast.Expr, bound []string, visit func(name string)) {
	switch e.Kind() {
	case ast.IdentKind:
		if !slices.Contains(bound, e.AsIdent()) {
			visit(e.AsIdent())
		}
	case ast.SelectKind:
		if name := qualified(e, bound); name != "" {
			visit(name)
			return
		}
		visitNames(e.AsSelect().Operand(), bound, visit)
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		visitNames(c.IterRange(), bound, visit)
		visitNames(c.AccuInit(), bound, visit)
		inner := append(slices.Clone(bound), c.IterVar(), c.IterVar2(), c.AccuVar())
		for _, part := range []ast.Expr{c.LoopStep(), c.LoopCondition(), c.Result()} {
			visitNames(part, inner, visit)
		}
	default:
		for _, child := range Children(e) {
			visitNames(child, bound, visit)
		}
	}
}

// qualified returns the declared name that a selection writes before its types
// are checked: checking makes one identifier of it. It is "" for a field.
func qualified(e ast.Expr, bound []string) string {
	s := e.AsSelect()
	if s.Operand().Kind() != ast.IdentKind {
		return ""
	}
	root := s.Operand().AsIdent()
	if !slices.Contains(qualifiers, root) || slices.Contains(bound, root) {
		return ""
	}
	return qualify(root, s.FieldName())
}

// Children returns the parts of an expression that is not a comprehension.
func Children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			return append([]ast.Expr{call.Target()}, call.Args()...)
		}
		return call.Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var out []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			out = append(out, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return out
	case ast.StructKind:
		var out []ast.Expr
		for _, field := range e.AsStruct().Fields() {
			out = append(out, field.AsStructField().Value())
		}
		return out
	default:
		return nil
	}
}
