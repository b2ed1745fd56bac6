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
		if usesOnly(uses, func(r analyze.Ref) bool { return r.Kind == analyze.Param || r.Kind == analyze.Input || shared[r] }) {
			shared[analyze.VariableRef(v.Name)] = true
			v.Shared = v.Collection == nil
		}
	}
}

// usesOnly reports whether all names that some expressions use are such; nil uses none.
func usesOnly(programs []*cel.Program, such func(analyze.Ref) bool) bool {
	for _, p := range programs {
		if p == nil {
			continue
		}
		for name := range p.Names() {
			if !such(analyze.ParseRef(name)) {
				return false
			}
		}
	}
	return true
}
