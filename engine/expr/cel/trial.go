package cel

import (
	"slices"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr"
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
}

// constants reports the first call that can never succeed, and whether there is none.
// A call that costs too much is left to the evaluation.
func (c compiling) constants(checked *cel.Ast) bool {
	t := &trial{env: c.env, ast: checked.NativeRep(), text: c.text, problems: c.problems, constant: map[int64]bool{}}
	ast.PostOrderVisit(t.ast.Expr(), ast.NewExprVisitor(func(x ast.Expr) { t.constant[x.ID()] = t.settled(x) }))
	budget := c.env.budget
	if budget == nil {
		budget = NewBudget()
		defer budget.Close()
	}
	t.meter = budget.trials
	return t.visit(ast.NavigateAST(t.ast))
}

// settled reports whether an expression has one value only, when that is known of its
// parts.
func (t *trial) settled(x ast.Expr) bool {
	switch x.Kind() {
	case ast.LiteralKind:
		return true
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
		if err := t.try(x); err != nil {
			t.report(t.innermost(x, err))
			return false
		}
		return true
	}
	for _, child := range x.Children() {
		if !t.visit(child) {
			return false
		}
	}
	if complete := t.completed(x); complete != nil {
		if err := t.try(complete); err != nil && !mismatched(err) {
			t.report(x, err)
			return false
		}
	}
	return true
}

// try evaluates an expression by itself, and returns why it fails.
func (t *trial) try(x ast.Expr) error {
	if x.Kind() == ast.LiteralKind {
		return nil
	}
	part := ast.NewCheckedAST(ast.NewAST(x, t.ast.SourceInfo()), t.ast.TypeMap(), t.ast.ReferenceMap())
	prg, err := t.env.planning.PlanProgram(part, newMeterer(t.env, part, false).option())
	if err != nil {
		return err
	}
	p := &Program{text: t.text, env: t.env, prg: prg, metered: true}
	if _, err = p.interpret(trialScope{}, t.meter); expr.TooCostly(err) {
		return nil
	}
	return err
}

// maxInner is how far the part that fails is looked for.
const maxInner = 10

// innermost returns the smallest part of a failing expression that fails, and why.
func (t *trial) innermost(x ast.Expr, err error) (ast.Expr, error) {
	for range maxInner {
		inner := x
		for _, child := range Children(x) {
			if failed := t.try(child); failed != nil {
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
	if start := t.ast.SourceInfo().GetStartLocation(t.culprit(x).ID()); start.Line() > 0 {
		at = t.text.at(offsetOf(t.text.Source, start.Line(), start.Column()))
	}
	t.problems.Add(document.Problem{
		Position: at, Severity: document.Error, Message: plainError(err).Error(),
		Hint: "it is written out, so this would fail in every evaluation", Source: t.text.Node.SourceLine(at.Line),
	})
}

// culprit returns the argument that is wrong where there is one only, else the call.
func (t *trial) culprit(x ast.Expr) ast.Expr {
	var found []ast.Expr
	for _, arg := range Children(x) {
		if t.constant[arg.ID()] {
			found = append(found, arg)
		}
	}
	if x.Kind() != ast.CallKind || len(found) != 1 {
		return x
	}
	return found[0]
}

// trialScope gives out what builtins ask of an evaluation.
type trialScope struct{}

// trialTime is the time of a trial: what is wrong does not depend on it.
var trialTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ResolveName implements expr.Scope.
func (trialScope) ResolveName(name string) (any, bool) {
	if name != callVariable {
		return nil, false
	}
	return ref.Val(callValue{call: &expr.Call{Now: trialTime, Flip: func(time.Time) {}, Recall: nothing}}), true
}

// Parent implements expr.Scope.
func (trialScope) Parent() interpreter.Activation { return nil }
