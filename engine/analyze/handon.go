package analyze

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// sortBy is what the macro sortBy calls, with the keys as its second argument.
const sortBy = "@sortByAssociatedKeys"

// handOn is a function whose result may be one of its arguments, or a list of
// their items.
func (t *tracer) handOn(name string, args []ast.Expr, env *locals) *Flow {
	var out *Flow
	for _, a := range args {
		out = union(out, t.flow(a, env))
	}
	switch name {
	case "first", "last":
		return out.Elem()
	case "flatten":
		t.reads.Presence(out.Elem()) // the number of items of the result
		return union(out, ListOf(out.Elem().Elem()))
	case operators.Add:
		if out != nil && !t.isList(args[0]) {
			t.reads.Consume(out)
			return nil
		}
	case "distinct", "optional.ofNonZeroValue":
		t.reads.Consume(out)
	}
	return out
}

// arranged is a function that hands on the items of its first argument, as the others
// say.
func (t *tracer) arranged(name string, args []ast.Expr, env *locals) *Flow {
	for _, a := range args[1:] {
		t.reads.Consume(t.flow(a, env))
	}
	out := t.handOn(name, args[:1], env)
	if name == "flatten" && len(args) > 1 {
		t.reads.Consume(out) // of how many levels is not known
	}
	return out
}

func (t *tracer) isList(e ast.Expr) bool {
	kind := t.ast.GetType(e.ID()).Kind()
	return kind == types.ListKind || kind == types.DynKind
}
