package check

import (
	"maps"

	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// rememberedWaits finds waits for a remembered time. To remember is no reason to evaluate
// again, so nothing may come of the wait that begins with it.
func rememberedWaits(p *policy) {
	names := recalling{}
	names.add(p.plan.Variables, func(v *plan.Variable) string { return analyze.VariableRef(v.Name).String() })
	(&plan.Policy{Inputs: p.plan.Inputs}).EachProgram(p.waiting(names))
	for _, v := range p.plan.Variables {
		own := maps.Clone(names)
		own.collection(v)
		(&plan.Policy{Variables: []*plan.Variable{v}}).EachProgram(p.waiting(own))
	}
	for _, r := range p.plan.Rules {
		own := maps.Clone(names)
		own.locals(r.Locals)
		(&plan.Policy{Rules: []*plan.Rule{r}}).EachProgram(p.waiting(own))
	}
}

// recalling are the names of values that were remembered, or are computed from such.
type recalling map[string]bool

func (r recalling) add(list []*plan.Variable, name func(*plan.Variable) string) {
	for _, v := range list {
		if v.Node.Reaches(func(n *analyze.Node) bool { return n.Recalls }) {
			r[name(v)] = true
		}
	}
}

// locals adds variables that are used by their bare names, and those within them.
func (r recalling) locals(list []*plan.Variable) {
	r.add(list, func(v *plan.Variable) string { return v.Name })
	for _, v := range list {
		r.collection(v)
	}
}

func (r recalling) collection(v *plan.Variable) {
	if v.Collection != nil {
		r.locals(v.Collection.Locals)
	}
}

// waiting reports the calls of builtins in an expression that wait for such a value.
func (p *policy) waiting(names recalling) func(*cel.Program) {
	return func(program *cel.Program) {
		names := names.within(program)
		each(program.Tree().Expr(), func(e ast.Expr) {
			name, args := called(e)
			if f := program.Env().Function(name); f == nil || !f.Timed || len(args) == 0 || !names.in(program, args[0]) {
				return
			}
			p.report(document.RememberedWait, program.At(e), "write the time into an annotation or a condition of the object",
				"a wait for a remembered time may never end: to remember it is no reason to evaluate again")
		})
	}
}

// within returns the names, and those of variables that an expression makes of such values,
// as the macros of lists and optMap do.
func (r recalling) within(program *cel.Program) recalling {
	out := maps.Clone(r)
	ast.PreOrderVisit(program.Tree().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		c := e.AsComprehension()
		if out.in(program, c.IterRange()) {
			out[c.IterVar()] = true
		}
		if out.in(program, c.AccuInit()) {
			out[c.AccuVar()] = true
		}
	}))
	return out
}

// in reports whether an expression has such a value.
func (r recalling) in(program *cel.Program, e ast.Expr) (found bool) {
	each(e, func(part ast.Expr) {
		switch part.Kind() {
		case ast.IdentKind:
			found = found || r[part.AsIdent()]
		case ast.CallKind:
			f := program.Env().Function(part.AsCall().FunctionName())
			found = found || f != nil && f.Recalls
		}
	})
	return found
}

// each visits an expression and its parts.
func each(e ast.Expr, visit func(ast.Expr)) { ast.PostOrderVisit(e, ast.NewExprVisitor(visit)) }
