package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// take compiles how many candidates win; nil is one. Steps have the scopes.
func (ss steps) take(doc *v1alpha1.SelectTake) *plan.Take {
	if doc == nil || !bounded(doc, ss.outer.problems) {
		return nil
	}
	node := ss.outer.node.Part(analyze.Step, "take", doc.Pos)
	outer, inner := ss.outer.in(node), ss.inner.in(node)
	out := &plan.Take{Pos: doc.Pos, SkipTooLarge: doc.SkipTooLarge}
	out.Weight = amount(inner, doc.Weight, "weight")
	out.Own = out.Weight != nil && analyze.Own(out.Weight, ss.names)
	out.Budget = amount(outer, doc.Budget, "budget")
	out.Max = outer.typed(doc.Max, cel.IntType)
	return out
}

// bounded reports whether a take has a bound, and no field without a use.
func bounded(doc *v1alpha1.SelectTake, problems *findings) bool {
	switch {
	case !doc.Budget.Set() && !doc.Max.Set():
		problems.Hintf(doc.Pos, "take: {weight: job.cpu, budget: variables.free}, or take: {max: \"3\"}", "take needs a budget or max")
	case !doc.Budget.Set() && doc.Weight.Set():
		problems.Hintf(doc.Weight.Pos(), "budget: variables.free", "weight has no use without a budget")
	case !doc.Budget.Set() && doc.SkipTooLarge:
		problems.Hintf(doc.Pos, "budget: variables.free", "skipTooLarge has no use without a budget: nothing is too large")
	default:
		return true
	}
	return false
}

// amount compiles an expression that gives a number.
func amount(s *scope, text v1alpha1.Text, field string) *cel.Program {
	p := s.program(text)
	if p == nil || cel.IsDyn(p.Type()) || p.Type().IsExactType(cel.IntType) || p.Type().IsExactType(cel.DoubleType) {
		return p
	}
	s.problems.Hintf(text.Pos(), "quantity.value(x) makes a whole number of a quantity, quantity(x).asApproximateFloat() any number",
		"%s must give a number, it gives %s", field, cel.TypeName(p.Type()))
	return nil
}

// together compiles what is done once with all winners; s knows no candidate.
func (ss steps) together(s *scope, doc *v1alpha1.SelectAction, actions actionList) []plan.Action {
	if len(doc.Together) == 0 {
		return nil
	}
	if doc.Take == nil {
		s.problems.Hintf(doc.Together[0].Pos, "then: is done with the one winner", "together is for a select with take")
		return nil
	}
	return actions(s.with(plan.Taken, cel.ListOf(ss.member()), ss.memberFlow(), doc.Pos), doc.Together)
}
