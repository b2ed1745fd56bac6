package check

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

// unused finds inputs, params and the variables of rules and collections that nothing
// uses.
func unused(p *policy) {
	p.unusedInputs()
	for _, param := range p.unit.Document.Spec.Params {
		if !p.mentioned("params", param.Key.Value) {
			p.report(document.UnusedParam, param.Key.Pos(), "remove it", fmt.Sprintf("the param %q is not used", param.Key.Value))
		}
	}
	used := map[*analyze.Node]bool{}
	p.plan.Graph.EachPart(func(n *analyze.Node) {
		for _, other := range n.Uses {
			used[other] = true
		}
	})
	var locals []*plan.Variable
	for _, r := range p.plan.Rules {
		locals = append(locals, r.Locals...)
	}
	for _, v := range p.plan.Variables {
		if v.Collection != nil {
			locals = append(locals, v.Collection.Locals...)
		}
	}
	p.unusedLocals(locals, used)
}

// unusedLocals reports the variables of rules and collections that nothing uses. The
// variables of a child are in its rule and in the list of what is wanted: they are used
// if either uses them.
func (p *policy) unusedLocals(list []*plan.Variable, used map[*analyze.Node]bool) {
	needed := map[document.Position]bool{}
	for _, v := range list {
		needed[v.Pos] = needed[v.Pos] || v.Node == nil || used[v.Node]
	}
	for _, v := range list {
		if !needed[v.Pos] {
			p.report(document.UnusedVariable, v.Pos, "remove it", fmt.Sprintf("the variable %q is not used", v.Name))
			needed[v.Pos] = true // once for all copies
		}
		if v.Collection != nil {
			p.unusedLocals(v.Collection.Locals, used)
		}
	}
}

func (p *policy) unusedInputs() {
	seen := map[*analyze.Node]bool{}
	for _, part := range p.plan.Graph.Parts {
		if part.Kind != analyze.Input && part.Kind != analyze.Variable { // an unused variable is reported itself
			part.Reach(seen)
		}
	}
	for _, in := range p.plan.Inputs {
		if !seen[in.Node] && in.Naming == nil && !p.limits(in.Name) && !in.Off {
			p.report(document.UnusedInput, in.Pos, "remove it: its objects are watched and cached", fmt.Sprintf("the input %q is used by no rule and no metric", in.Written()))
		}
	}
}

// limits reports whether a limit is a percentage of an input.
func (p *policy) limits(input string) bool {
	return slices.ContainsFunc([]*plan.Limit{p.plan.Limits.Changes, p.plan.Limits.Removals}, func(l *plan.Limit) bool { return l != nil && l.PerCentOf == input })
}

// mentioned reports whether the text uses a name. What params alone decide is computed
// when the policy is compiled, so that no node of the graph uses them.
func (p *policy) mentioned(qualifier, name string) bool {
	return regexp.MustCompile(`\b` + qualifier + `(\.\??|\[\??["'])` + regexp.QuoteMeta(name) + `\b`).Match(p.unit.File.Text)
}
