package analyze

import (
	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/expr/cel"
)

// Derive returns which parts of objects a program's value is made from. Unlike in the
// result of Trace, what a function computes comes from its arguments. A part that only
// decides, in a condition or comparison or by its number of items, is not in the flow.
func Derive(p *cel.Program, names func(name string) *Flow) *Flow {
	t := tracer{ast: p.Tree(), names: names, reads: Reads{}, env: p.Env(), values: true}
	return t.flow(t.ast.Expr(), nil)
}

// DeriveTemplate is Derive for a template.
func DeriveTemplate(t *cel.Template, names func(name string) *Flow) *Flow {
	switch {
	case t == nil:
		return nil
	case t.Program() != nil:
		return Derive(t.Program(), names)
	case t.IsList(), t.IsMapping():
		var keys, values *Flow
		for i := range t.Len() {
			keys = union(keys, DeriveTemplate(t.KeyTemplate(i), names))
			values = union(values, DeriveTemplate(t.Item(i), names))
		}
		return MapOf(keys, values)
	}
	var text *Flow
	t.Walk(func(p *cel.Program) { text = union(text, Derive(p, names)) })
	return text.Computed()
}

// derived is a value that a function computes from its arguments.
func (t *tracer) derived(args []ast.Expr, env *locals[*Flow]) (out *Flow) {
	for _, a := range args {
		out = union(out, t.flow(a, env))
	}
	return out.Computed()
}

// computed returns the flow of a value that is computed from another one; nil unless the
// tracer follows values.
func (t *tracer) computed(f *Flow) *Flow {
	if !t.values {
		return nil
	}
	return f.Computed()
}
