package cel

import (
	"maps"
	"slices"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// trial makes the calls of an expression whose arguments are written out: what is
// wrong with them is wrong in every evaluation.
type trial struct {
	env      *Env
	ast      *ast.AST
	text     Text
	problems *document.Problems
	meter    *expr.Meter
	// constant says of expressions, by ID, whether they have one value only.
	constant map[int64]bool
	// names are names with one value, reached the others that evaluations can come to.
	names   map[string]value.Value
	reached map[string]bool
	// cause is the name whose value is wrong.
	cause string
}

// constants reports the first call that can never succeed, and whether there is none.
// A call that costs too much is left to the evaluation.
func (c compiling) constants(checked *cel.Ast) (fine bool) {
	c.env.trial(checked, c.text, nil, func(t *trial) {
		t.problems = c.problems
		fine = t.visit(ast.NavigateAST(t.ast))
	})
	return fine
}

// Try makes the calls of the expression whose arguments are written out or names with one
// value, unless such parts keep them from being reached. It returns the other names that
// evaluations can come to, and reports the first call that fails, with the name that makes it
// fail; "" if it is written out.
func (p *Program) Try(names map[string]value.Value, problems *document.Problems) (reached map[string]bool, cause string) {
	p.env.trial(p.checked, p.text, names, func(t *trial) {
		t.problems, t.reached = problems, map[string]bool{}
		t.visit(ast.NavigateAST(t.ast))
		reached, cause = t.reached, t.cause
	})
	return reached, cause
}

// Known returns the value that the expression has by such names alone; nil if others count.
func (p *Program) Known(names map[string]value.Value) (known value.Value) {
	p.env.trial(p.checked, p.text, names, func(t *trial) { known = t.known(t.ast.Expr()) })
	return known
}

// trial prepares the trial of an expression.
func (e *Env) trial(checked *cel.Ast, text Text, names map[string]value.Value, do func(*trial)) {
	t := &trial{env: e, ast: checked.NativeRep(), text: text, names: names, constant: map[int64]bool{}}
	ast.PostOrderVisit(t.ast.Expr(), ast.NewExprVisitor(func(x ast.Expr) { t.constant[x.ID()] = t.settled(x) }))
	budget := e.budget
	if budget == nil {
		budget = NewBudget()
		defer budget.Close()
	}
	t.meter = budget.trials
	do(t)
}

// settled reports whether an expression has one value only, when that is known of its
// parts.
func (t *trial) settled(x ast.Expr) bool {
	switch x.Kind() {
	case ast.LiteralKind:
		return true
	case ast.IdentKind:
		return t.names[x.AsIdent()] != nil
	case ast.ListKind:
		return t.all(x.AsList().Elements())
	case ast.MapKind:
		return !slices.ContainsFunc(x.AsMap().Entries(), func(entry ast.EntryExpr) bool {
			return entry.AsMapEntry().IsOptional() || !t.all([]ast.Expr{entry.AsMapEntry().Key(), entry.AsMapEntry().Value()})
		})
	case ast.CallKind:
		own := t.env.functions[x.AsCall().FunctionName()]
		return (own == nil || !needsCall(*own)) && t.all(argumentsOf(x))
	default:
		return false
	}
}

func (t *trial) all(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(x ast.Expr) bool { return !t.constant[x.ID()] })
}

// visit tries the largest constant calls of an expression, and the calls that have a
// constant among their arguments. It reports whether none of them fails.
func (t *trial) visit(x ast.NavigableExpr) bool {
	if t.constant[x.ID()] {
		if _, err := t.try(x); err != nil {
			t.report(t.innermost(x, err))
			return false
		}
		return true
	}
	if t.reached != nil && x.Kind() == ast.IdentKind {
		t.reached[x.AsIdent()] = true
	}
	for _, child := range t.reachable(x) {
		if !t.visit(child) {
			return false
		}
	}
	if complete := t.completed(x); complete != nil {
		if _, err := t.try(complete); err != nil && !mismatched(err) {
			t.report(x, err)
			return false
		}
	}
	return true
}

// reachable returns the parts of an expression that an evaluation can come to: what is known
// of the others decides.
func (t *trial) reachable(x ast.NavigableExpr) []ast.NavigableExpr {
	if t.known(x) != nil {
		return nil
	}
	parts := x.Children()
	if x.Kind() == ast.CallKind && x.AsCall().FunctionName() == operators.Conditional {
		switch t.known(parts[0]) {
		case types.True:
			return parts[1:2]
		case types.False:
			return parts[2:]
		}
	}
	return parts
}

// absorbs is the value of one side that decides about both.
var absorbs = map[string]value.Value{operators.LogicalAnd: types.False, operators.LogicalOr: types.True}

// known returns the value that an expression has whatever an evaluation finds; nil if that
// counts, or it fails.
func (t *trial) known(x ast.Expr) value.Value {
	if t.constant[x.ID()] {
		if v, err := t.try(x); err == nil {
			return v
		}
		return nil
	}
	if x.Kind() != ast.CallKind {
		return nil
	}
	args, decides := x.AsCall().Args(), absorbs[x.AsCall().FunctionName()]
	switch {
	case decides != nil && (t.known(args[0]) == decides || t.known(args[1]) == decides):
		return decides
	case x.AsCall().FunctionName() == operators.LogicalNot:
		if v, is := t.known(args[0]).(types.Bool); is {
			return !v
		}
	}
	return nil
}

// try evaluates an expression by itself, and returns its value, or why it fails.
func (t *trial) try(x ast.Expr) (value.Value, error) {
	part := ast.NewCheckedAST(ast.NewAST(x, t.ast.SourceInfo()), t.ast.TypeMap(), t.ast.ReferenceMap())
	prg, err := t.env.planning.PlanProgram(part, newMeterer(t.env, part, false).option())
	if err != nil {
		return nil, err
	}
	p := &Program{text: t.text, env: t.env, prg: prg, metered: true}
	v, err := p.interpret(trialScope{t.names}, t.meter)
	if expr.TooCostly(err) {
		return nil, nil
	}
	return v, err
}

// maxInner is how far the part that fails is looked for.
const maxInner = 10

// innermost returns the smallest part of a failing expression that fails, and why.
func (t *trial) innermost(x ast.Expr, err error) (ast.Expr, error) {
	for range maxInner {
		inner := x
		for _, child := range Children(x) {
			if _, failed := t.try(child); failed != nil {
				inner, err = child, failed
				break
			}
		}
		if inner == x {
			break
		}
		x = inner
	}
	return x, err
}

func (t *trial) report(x ast.Expr, err error) {
	at := t.text.at(0)
	culprit, err := t.culprit(x, err)
	if start := t.ast.SourceInfo().GetStartLocation(culprit.ID()); start.Line() > 0 {
		at = t.text.at(offsetOf(t.text.Source, start.Line(), start.Column()))
	}
	t.problems.Add(document.Problem{
		Position: at, Severity: document.Error, Message: plainError(err).Error(),
		Hint: t.why(culprit), Source: t.text.Node.SourceLine(at.Line),
	})
}

// why returns the hint for an expression that fails in every evaluation.
func (t *trial) why(x ast.Expr) string {
	for _, name := range slices.Sorted(maps.Keys(Names(x))) {
		if t.names[name] != nil {
			t.cause = name
			return "with this value of " + name + " it would fail in every evaluation"
		}
	}
	return "it is written out, so this would fail in every evaluation"
}

// culprit returns the argument that is wrong and why, or the only one that is constant, else
// the call.
func (t *trial) culprit(x ast.Expr, err error) (ast.Expr, error) {
	var found []ast.Expr
	for _, arg := range Children(x) {
		if t.constant[arg.ID()] {
			found = append(found, arg)
		}
	}
	switch {
	case x.Kind() != ast.CallKind:
		return x, err
	case len(found) == 1:
		return found[0], err
	}
	for _, arg := range found {
		if alone := t.withOnly(x, func(other ast.Expr) bool { return other.ID() == arg.ID() }); alone != nil {
			if _, own := t.try(alone); own != nil && !mismatched(own) {
				return arg, own
			}
		}
	}
	return x, err
}

// trialScope gives out what builtins ask of an evaluation.
type trialScope struct{ names map[string]value.Value }

// trialTime is the time of a trial: what is wrong does not depend on it.
var trialTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ResolveName implements expr.Scope.
func (s trialScope) ResolveName(name string) (any, bool) {
	if name != callVariable {
		v, known := s.names[name]
		return v, known
	}
	return ref.Val(callValue{call: &expr.Call{Now: trialTime, Flip: func(time.Time) {}, Recall: nothing}}), true
}

// Parent implements expr.Scope.
func (trialScope) Parent() interpreter.Activation { return nil }
