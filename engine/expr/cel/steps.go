package cel

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
	"github.com/google/cel-go/common/decls"
)

// Limits of the work of checking the types of expressions, in steps.
const (
	// MaxSteps is the limit of one expression: about a tenth of a second of CPU time.
	MaxSteps = 500_000
	// MaxPolicySteps is the limit of all expressions of a policy.
	MaxPolicySteps = 2_500_000
)

// steps estimates the work of checking the types of an expression that is parsed.
//
// The checker of cel-go keeps the types bound to type parameters, such as that of the items
// of [], and copies them for each assignability check. So the work grows with the square of
// the length: a step is a check, or one binding that it copies.
type steps struct {
	calls map[string]callSteps
	// bindings is how many type parameters can be bound, count the steps so far.
	bindings, count int
}

// callSteps is the work of checking a call of a function: the overloads of either style, and
// the most type parameters that one has.
type callSteps struct{ functions, members, bindings int }

func callStepsOf(declared map[string]*decls.FunctionDecl) map[string]callSteps {
	out := make(map[string]callSteps, len(declared))
	for name, f := range declared {
		var c callSteps
		for _, o := range f.OverloadDecls() {
			c.bindings = max(c.bindings, len(o.TypeParams()))
			if o.IsMemberFunction() {
				c.members++
			} else {
				c.functions++
			}
		}
		out[name] = c
	}
	return out
}

// stepsOf returns the steps of checking the types of an expression.
func (e *Env) stepsOf(parsed *ast.AST) int {
	s := steps{calls: e.calls}
	s.add(parsed.Expr())
	return s.count
}

// check counts assignability checks.
func (s *steps) check(pairs int) { s.count += pairs * (1 + s.bindings) }

// add counts the steps of an expression; its parts come first, as in the checker.
func (s *steps) add(e ast.Expr) {
	if e.Kind() == ast.ComprehensionKind {
		c := e.AsComprehension()
		for _, part := range []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
			s.add(part)
		}
		s.check(3) // its range, condition and step
		return
	}
	parts := Children(e)
	for _, part := range parts {
		s.add(part)
	}
	switch e.Kind() {
	case ast.ListKind, ast.MapKind, ast.StructKind:
		s.check(len(parts))
		if len(parts) == 0 {
			s.bindings++
		}
		if len(parts) == 0 && e.Kind() == ast.MapKind {
			s.bindings++
		}
	case ast.CallKind:
		s.call(e.AsCall())
	default:
		s.check(1)
	}
}

// call counts the overloads of a function that have the style of the call.
func (s *steps) call(c ast.CallExpr) {
	name, member := c.FunctionName(), c.IsMemberFunction()
	if member {
		if library, ok := containers.ToQualifiedName(c.Target()); ok {
			if _, known := s.calls[strings.TrimPrefix(library, ".")+"."+name]; known {
				name, member = library+"."+name, false
			}
		}
	}
	f := s.calls[strings.TrimPrefix(name, ".")]
	overloads := f.functions
	if member {
		overloads = f.members
	}
	s.check(max(1, overloads) * (1 + len(c.Args())))
	s.bindings += f.bindings
}

// affordable refuses an expression whose types take too much work to check.
func (c compiling) affordable(parsed *cel.Ast) bool {
	n := c.env.stepsOf(parsed.NativeRep())
	if n > MaxSteps {
		c.problems.Errorf(c.text.at(0), "checking the types of this takes %d steps, at most %d are allowed; split it into variables", n, MaxSteps)
		return false
	}
	if c.again {
		return true
	}
	ok, refusal := c.env.budget.admitSteps(n)
	if refusal != "" {
		c.problems.Errorf(c.text.at(0), "%s", refusal)
	}
	return ok
}

// literalValidator is CEL's validator of the entries of lists and maps, which panics if the
// value of an optional entry is dyn.
type literalValidator struct{ cel.ASTValidator }

// Validate implements cel.ASTValidator.
func (v literalValidator) Validate(env *cel.Env, config cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	sound := true
	ast.PostOrderVisit(a.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		for _, value := range optionalEntries(x) {
			if len(a.GetType(value.ID()).Parameters()) == 0 {
				issues.ReportErrorAtID(value.ID(), "the value of an optional entry must be an optional, and the type of this is dyn: optional.of(x), or x.?field")
				sound = false
			}
		}
	}))
	if sound {
		v.ASTValidator.Validate(env, config, a, issues)
	}
}

// optionalEntries returns the values of the optional entries of a list or map.
func optionalEntries(x ast.Expr) (values []ast.Expr) {
	switch x.Kind() {
	case ast.ListKind:
		for _, i := range x.AsList().OptionalIndices() {
			values = append(values, x.AsList().Elements()[i])
		}
	case ast.MapKind:
		for _, entry := range x.AsMap().Entries() {
			if entry.AsMapEntry().IsOptional() {
				values = append(values, entry.AsMapEntry().Value())
			}
		}
	}
	return values
}
