package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// share marks the variables that are the same for all keys that find the same in inputs.
// The list has those first that others use.
func share(variables []*plan.Variable) {
	shared := map[analyze.Ref]bool{}
	for _, v := range variables {
		var uses []*cel.Program
		switch c := v.Collection; {
		case v.Rego != nil, c != nil && !c.Shared:
			continue
		case c != nil:
			uses = []*cel.Program{c.ForEach} // the rest uses params only
		default:
			plan.VariablePrograms([]*plan.Variable{v}, func(p *cel.Program) { uses = append(uses, p) })
		}
		if usesShared(uses, shared) {
			shared[analyze.VariableRef(v.Name)] = true
			v.Shared = v.Collection == nil
		}
	}
}

// usesShared reports whether expressions use only params, inputs and some variables.
func usesShared(programs []*cel.Program, variables map[analyze.Ref]bool) bool {
	for _, p := range programs {
		for name := range p.Names() {
			ref := analyze.ParseRef(name)
			if ref.Kind != analyze.Param && ref.Kind != analyze.Input && !variables[ref] {
				return false
			}
		}
	}
	return true
}
