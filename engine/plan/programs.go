package plan

import "github.com/edict-dev/edict/engine/expr/cel"

// EachProgram visits all expressions of the policy.
func (p *Policy) EachProgram(visit func(*cel.Program)) {
	v := visitor(visit)
	for _, in := range p.Inputs {
		v.programs(in.Get, in.Where, in.Key)
		v.programs(in.OrderBy...)
	}
	v.variables(p.Variables)
	for _, r := range p.Rules {
		v.programs(r.When, r.ForEach)
		v.variables(r.Locals)
		for _, row := range r.Cases {
			v.programs(row.When)
		}
		for a := range r.Actions() {
			Programs(a, visit)
		}
	}
}

// VariablePrograms visits the expressions of variables.
func VariablePrograms(list []*Variable, visit func(*cel.Program)) { visitor(visit).variables(list) }

func (v visitor) variables(list []*Variable) {
	for _, one := range list {
		v.programs(one.Program, one.When)
		v.templates(one.Value)
		if c := one.Collection; c != nil {
			v.programs(c.ForEach, c.When, c.Key)
			v.programs(c.OrderBy...)
			v.templates(c.Value)
			v.variables(c.Locals)
		}
	}
}
