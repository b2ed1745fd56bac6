package cel

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
)

// Limits of the work of checking the types of expressions, in steps.
const (
	// MaxSteps is the limit of one expression: about a tenth of a second of CPU time.
	MaxSteps = 500_000
	// MaxPolicySteps is the limit of all expressions of a policy.
	MaxPolicySteps = 2_500_000
)

// steps counts the work of checking the types of an expression that is parsed.
//
// The checker of cel-go keeps which types it found for those that are open, such as that of
// the items of [] and the parameters of a function, and copies them for each comparison of
// two types. So the work grows with the square of the length: a step is one such copy, or
// one comparison.
type steps struct {
	functions map[string]*decls.FunctionDecl
	// open is how many types can be open, count the steps so far.
	open, count int
}

// stepsOf returns how many steps checking the types of an expression takes at most.
func (e *Env) stepsOf(parsed *ast.AST) int {
	s := steps{functions: e.base.Functions()}
	s.add(parsed.Expr())
	return s.count
}

func (s *steps) compare(pairs int) { s.count += pairs * (1 + s.open) }

// add counts an expression in the order of the checker: parts come first.
func (s *steps) add(e ast.Expr) {
	switch e.Kind() {
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		for _, part := range []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
			s.add(part)
		}
		s.compare(3) // its range, condition and step
		return
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			s.add(entry.AsMapEntry().Key())
			s.add(entry.AsMapEntry().Value())
			s.compare(2)
		}
		if len(e.AsMap().Entries()) == 0 {
			s.open += 2
		}
		return
	}
	parts := Children(e)
	for _, part := range parts {
		s.add(part)
	}
	switch e.Kind() {
	case ast.ListKind:
		s.compare(len(parts))
		if len(parts) == 0 {
			s.open++
		}
	case ast.CallKind:
		s.call(e.AsCall())
	default:
		s.count++
	}
}

// call counts the overloads of a function: all of them are tried.
func (s *steps) call(c ast.CallExpr) {
	name := c.FunctionName()
	if c.IsMemberFunction() && c.Target().Kind() == ast.IdentKind {
		if qualified := c.Target().AsIdent() + "." + name; s.functions[qualified] != nil {
			name = qualified
		}
	}
	f := s.functions[name]
	if f == nil {
		return
	}
	open := 0
	for _, o := range f.OverloadDecls() {
		s.compare(1 + len(c.Args()))
		open = max(open, len(o.TypeParams()))
	}
	s.open += open
}

// affordable refuses an expression whose types take too much work to check.
func (c compiling) affordable(parsed *cel.Ast) bool {
	n := c.env.stepsOf(parsed.NativeRep())
	if n > MaxSteps {
		c.problems.Errorf(c.text.at(0), "checking the types of this takes %d steps, at most %d are allowed; split it into variables", n, MaxSteps)
		return false
	}
	ok, refusal := c.env.budget.spend(n)
	if refusal != "" {
		c.problems.Errorf(c.text.at(0), "%s", refusal)
	}
	return ok
}
