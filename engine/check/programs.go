package check

import "github.com/edict-dev/edict/engine/expr/cel"

// eachProgram visits all expressions of a policy.
func (p *policy) eachProgram(visit func(fields)) {
	p.plan.EachProgram(func(program *cel.Program) { visit(fieldsOf(program)) })
}
