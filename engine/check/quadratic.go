package check

import (
	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// quadratic finds loops over a whole input that are made for each item of another:
// in rules and in collections. Loops inside one expression are found when it is
// compiled.
func quadratic(p *policy) {
	for _, r := range p.plan.Rules {
		q := p.loops(r.ForEach, r.As, r.Locals)
		q.look(r.When)
		plan.VariablePrograms(r.Locals, q.look)
		for a := range r.Actions() {
			plan.Programs(a, q.look)
		}
	}
	for _, v := range p.plan.Variables {
		if c := v.Collection; c != nil {
			q := p.loops(c.ForEach, c.As, c.Locals)
			q.look(c.When)
			c.Value.Walk(q.look)
			plan.VariablePrograms(c.Locals, q.look)
		}
	}
}

// itemLoops looks for loops that are made for each item of a list.
type itemLoops struct {
	policy *policy
	// outer is the input that the list is; "" for any other list.
	outer string
	// item are the names that differ from item to item.
	item map[string]bool
	// whole are the inputs that have all objects of a kind.
	whole map[string]bool
}

func (p *policy) loops(forEach *cel.Program, as string, locals []*plan.Variable) *itemLoops {
	q := &itemLoops{policy: p, item: map[string]bool{as: true}, whole: map[string]bool{}}
	for _, l := range locals {
		q.item[l.Name] = true
	}
	for _, in := range p.plan.Inputs {
		if in.Where == nil && in.Shape == plan.List {
			q.whole[analyze.InputRef(in.Name).String()] = true
		}
	}
	if forEach != nil {
		for name := range forEach.Names() {
			if q.whole[name] {
				q.outer = name
			}
		}
	}
	return q
}

func (q *itemLoops) look(program *cel.Program) {
	if q.outer == "" || program == nil {
		return
	}
	ast.PostOrderVisit(program.Tree().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		over := e.AsComprehension().IterRange()
		if over.Kind() != ast.IdentKind || !q.whole[over.AsIdent()] {
			return
		}
		for name := range cel.Names(e.AsComprehension().LoopStep()) {
			if q.item[name] {
				q.policy.report(document.QuadraticLoop, program.At(e), "give "+over.AsIdent()+" a keyBy or groupBy and look items up",
					"for every item of "+q.outer+" this goes through all of "+over.AsIdent())
				return
			}
		}
	}))
}
