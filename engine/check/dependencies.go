package check

import (
	"slices"

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
	// counts is which parts of the key of the primary object tell one from another.
	counts parts
	found  bool
}

// parts are those of a key: name and namespace.
type parts struct{ name, namespace bool }

// tell reports whether an expression depends on what tells one primary object, or one
// item, from another. own says that it is one of the rule, which knows the item.
func (d *dependencies) tell(program *cel.Program, own bool) bool {
	for name := range program.Names() {
		if d.name(program, name, own) || d.through(name, own, d.tell) {
			return true
		}
	}
	return false
}

// name reports whether a name that an expression uses tells it.
func (d *dependencies) name(program *cel.Program, name string, own bool) bool {
	switch ref := analyze.ParseRef(name); ref {
	case analyze.Call, analyze.ErrorMessage:
		return true
	case analyze.KeyName:
		return d.counts.name
	case analyze.KeyNamespace:
		return d.counts.namespace
	case analyze.ObjectRef:
		return d.object(program)
	default:
		return own && ref.Kind == analyze.Local && d.local(name) == nil
	}
}

// object reports whether an expression depends on what counts of the primary object: its
// other fields do in any case.
func (d *dependencies) object(program *cel.Program) bool {
	switch all := program.Tree().Expr(); {
	case field(program, all, "metadata", "namespace"):
		return d.counts.namespace
	case field(program, all, "metadata", "name"):
		return d.counts.name
	}
	return true
}

// compare reports whether an expression depends on a comparison of what counts of the key
// of the primary object.
func (d *dependencies) compare(program *cel.Program, own bool) bool {
	found := false
	ast.PostOrderVisit(program.Tree().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		a, b, how := sides(e)
		found = found || (how == operators.Equals || how == operators.In) && (d.part(program, a) || d.part(program, b))
	}))
	for name := range program.Names() {
		found = found || d.through(name, own, d.compare)
	}
	return found
}

// part reports whether an expression is what counts of the key of the primary object, or a
// variable that is.
func (d *dependencies) part(program *cel.Program, e ast.Expr) bool {
	switch {
	case d.counts.name && is(program, e, analyze.KeyName), d.counts.namespace && is(program, e, analyze.KeyNamespace):
		return true
	case e.Kind() != ast.IdentKind:
		return false
	}
	i := slices.IndexFunc(d.policy.plan.Variables, func(v *plan.Variable) bool { return e.AsIdent() == analyze.VariableRef(v.Name).String() })
	return i >= 0 && d.policy.plan.Variables[i].Program != nil && d.part(d.policy.plan.Variables[i].Program, d.policy.plan.Variables[i].Program.Tree().Expr())
}

// is reports whether an expression is a part of the key, or the field of the primary object
// with the same value.
func is(program *cel.Program, e ast.Expr, part analyze.Ref) bool {
	return field(program, e, "metadata", part.Name) || e.Kind() == ast.IdentKind && e.AsIdent() == part.String()
}

// field reports whether an expression is a field of the primary object.
func field(program *cel.Program, e ast.Expr, path ...string) bool {
	root, at, ok := fieldsOf(program).chain(e)
	return ok && root == analyze.ObjectRef.Name && slices.Equal(at, path)
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
		found = d.input(ref.Name, visit(false)) || found
	}
	return found
}

// input visits the expressions of an input, and reports whether its objects are those of
// the namespace of the primary object, if that counts.
func (d *dependencies) input(name string, visit func(*cel.Program)) bool {
	own := false
	for _, in := range d.policy.plan.Inputs {
		if in.Name != name {
			continue
		}
		for _, program := range append([]*cel.Program{in.Get, in.Where, in.Key}, in.OrderBy...) {
			if program != nil {
				visit(program)
			}
		}
		own = own || in.Own && d.counts.namespace
	}
	return own
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
