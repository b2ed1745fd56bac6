package analyze

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
)

type joiner struct {
	program *cel.Program
	ast     *ast.AST
}

// Anded returns the parts of a condition that must all hold.
func Anded(e ast.Expr) (out []ast.Expr) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	for _, arg := range e.AsCall().Args() {
		out = append(out, Anded(arg)...)
	}
	return out
}

func (j *joiner) conjunct(e ast.Expr) *conjunct {
	if e.Kind() == ast.ComprehensionKind {
		return j.exists(e)
	}
	if e.Kind() != ast.CallKind {
		return nil
	}
	call := e.AsCall()
	switch call.FunctionName() {
	case operators.Equals:
		return j.equality(call.Args()[0], call.Args()[1])
	case operators.In:
		return j.membership(call.Args()[0], call.Args()[1])
	}
	switch f := j.program.Env().Function(call.FunctionName()); {
	case f == nil:
		return nil
	case f.Match == expr.MatchSelector:
		return j.match(call.Args()[0], call.Args()[1], sideSelector)
	case f.Match == expr.MatchMap:
		return j.match(call.Args()[0], call.Args()[1], sideLabelMap)
	default:
		return nil
	}
}

// sides says which of two expressions reads only the item and which only the
// key's side.
func (j *joiner) sides(a, b ast.Expr) (item, key ast.Expr) {
	ua, ub := uses(a), uses(b)
	switch {
	case len(ua.free)+len(ub.free) > 0:
		return nil, nil
	case ua.item && !ua.key && !ub.item:
		return a, b
	case ub.item && !ub.key && !ua.item:
		return b, a
	}
	return nil, nil
}

func (j *joiner) equality(a, b ast.Expr) *conjunct {
	item, key := j.sides(a, b)
	if item == nil {
		return nil
	}
	return newConjunct(j.values(item), j.values(key), rankEqual)
}

func (j *joiner) membership(x, in ast.Expr) *conjunct {
	item, _ := j.sides(x, in)
	switch item {
	case nil:
		return nil
	case x:
		return newConjunct(j.values(x), j.elements(in), rankMember)
	default:
		return newConjunct(j.elements(in), j.values(x), rankMember)
	}
}

// match is a call of a builtin that matches labels; form is that of its
// selector.
func (j *joiner) match(selector, labels ast.Expr, form sideForm) *conjunct {
	item, _ := j.sides(selector, labels)
	switch item {
	case nil:
		return nil
	case labels:
		return newConjunct(j.special(labels, sideLabels), j.special(selector, form), rankSelector)
	default:
		return newConjunct(j.special(selector, form), j.special(labels, sideLabels), rankSelector)
	}
}

// exists is list.exists(n, ...) with equalities on the element: the list on
// one side, what it is compared with on the other.
func (j *joiner) exists(e ast.Expr) *conjunct {
	call, ok := j.existsCall(e)
	if !ok {
		return nil
	}
	c := e.AsComprehension()
	over := uses(c.IterRange())
	if over.item == over.key || len(over.free) > 0 {
		return nil
	}
	own, other, complete := j.pairs(call.Args()[1], c.IterVar(), over.item)
	if own == nil {
		return nil
	}
	rank := rankExists
	if !complete {
		rank = rankPartial
	}
	list := j.list(c.IterRange(), c.IterVar(), own)
	against := j.values(other...)
	if over.item {
		return newConjunct(list, against, rank)
	}
	return newConjunct(against, list, rank)
}

// existsCall returns the call of the macro list.exists(n, ...) that became a
// comprehension.
func (j *joiner) existsCall(e ast.Expr) (ast.CallExpr, bool) {
	macro, ok := j.ast.SourceInfo().GetMacroCall(e.ID())
	if !ok || macro.Kind() != ast.CallKind {
		return nil, false
	}
	call := macro.AsCall()
	return call, call.FunctionName() == operators.Exists && len(call.Args()) == 2 && call.Args()[0].Kind() == ast.IdentKind
}

// pairs takes the equalities of an exists apart: the element's side of each,
// and the other side. Both are nil when there are none that an index answers;
// complete says that nothing was left over.
func (j *joiner) pairs(predicate ast.Expr, variable string, listOnItem bool) (own, other []ast.Expr, complete bool) {
	complete = true
	for _, part := range Anded(predicate) {
		if part.Kind() != ast.CallKind || part.AsCall().FunctionName() != operators.Equals {
			complete = false
			continue
		}
		a, b := part.AsCall().Args()[0], part.AsCall().Args()[1]
		if !uses(a).free[variable] {
			a, b = b, a
		}
		ua, ub := uses(a), uses(b)
		elementOnly := len(ua.free) == 1 && ua.free[variable] && !ua.item && !ua.key
		otherSide := len(ub.free) == 0 && ub.item == !listOnItem && (!ub.key || listOnItem) && (ub.key || ub.item)
		if !elementOnly || !otherSide {
			complete = false
			continue
		}
		own, other = append(own, a), append(other, b)
	}
	return own, other, complete
}

func (j *joiner) compile(env *cel.Env, e ast.Expr) *cel.Program {
	return j.program.Part(env, e, j.ast.SourceInfo())
}

func (j *joiner) values(list ...ast.Expr) *Side {
	s := &Side{}
	for _, e := range list {
		p := j.compile(j.program.Env(), e)
		if p == nil {
			return nil
		}
		s.each = append(s.each, p)
	}
	return s
}

func (j *joiner) elements(e ast.Expr) *Side {
	p := j.compile(j.program.Env(), e)
	if p == nil {
		return nil
	}
	return &Side{over: p}
}

func (j *joiner) list(over ast.Expr, variable string, own []ast.Expr) *Side {
	s := j.elements(over)
	if s == nil {
		return nil
	}
	env, err := j.program.Env().With(cel.Var{Name: variable, Type: cel.ElemType(s.over.Type())})
	if err != nil {
		return nil
	}
	s.variable = variable
	for _, e := range own {
		p := j.compile(env, e)
		if p == nil {
			return nil
		}
		s.each = append(s.each, p)
	}
	return s
}

func (j *joiner) special(e ast.Expr, form sideForm) *Side {
	s := j.values(e)
	if s != nil {
		s.form = form
	}
	return s
}
