package check

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// dependencies follows what expressions of a rule depend on, through variables and, if it
// is said so, inputs.
type dependencies struct {
	policy *policy
	rule   *plan.Rule
	seen   map[string]bool
	inputs bool
}

// through looks at what a name stands for, each once.
func (d *dependencies) through(name string, own bool, look func(*cel.Program, bool) bool) (found bool) {
	if d.seen[name] {
		return false
	}
	d.seen[name] = true
	visit := func(of bool) func(*cel.Program) {
		return func(program *cel.Program) { found = found || look(program, of) }
	}
	ref := analyze.ParseRef(name)
	if v := d.local(name); v != nil && own {
		plan.VariablePrograms([]*plan.Variable{v}, visit(true))
	}
	for _, v := range d.policy.plan.Variables {
		if ref == analyze.VariableRef(v.Name) || name == v.Name {
			plan.VariablePrograms([]*plan.Variable{v}, visit(false))
		}
	}
	if ref.Kind == analyze.Input && d.inputs {
		d.input(ref.Name, visit(false))
	}
	return found
}

// input visits the expressions of an input.
func (d *dependencies) input(name string, visit func(*cel.Program)) {
	for _, in := range d.policy.plan.Inputs {
		if in.Name != name {
			continue
		}
		for _, program := range append([]*cel.Program{in.Get, in.Where, in.Key}, in.OrderBy...) {
			if program != nil {
				visit(program)
			}
		}
	}
}

// local returns a variable of the rule; nil when it has none of the name.
func (d *dependencies) local(name string) *plan.Variable {
	for _, v := range d.rule.Locals {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// sides returns the operands of a comparison and its operator. The name is empty if e is no
// comparison.
func sides(e ast.Expr) (a, b ast.Expr, name string) {
	switch name, args := called(e); name {
	case operators.Equals, operators.NotEquals, operators.In:
		return args[0], args[1], name
	}
	return nil, nil, ""
}

// called returns the function that an expression calls; "" if it is no call.
func called(e ast.Expr) (function string, args []ast.Expr) {
	if e.Kind() != ast.CallKind {
		return "", nil
	}
	return e.AsCall().FunctionName(), e.AsCall().Args()
}
