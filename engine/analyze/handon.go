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
func (t *tracer) handOn(name string, args []ast.Expr, env *locals[*Flow]) *Flow {
	var out *Flow
	for _, a := range args {
		out = union(out, t.flow(a, env))
	}
	switch name {
	case "first", "last":
		return out.Elem()
	case operators.Add:
		if out != nil && !t.isList(args[0]) {
			t.reads.Consume(out)
			return t.computed(out)
		}
	case "distinct", "optional.ofNonZeroValue":
		t.reads.Consume(out)
	}
	return out
}

// arranged is a function that hands on the items of its first argument, as the others
// say.
func (t *tracer) arranged(name string, args []ast.Expr, env *locals[*Flow]) *Flow {
	for _, a := range args[1:] {
		t.reads.Consume(t.flow(a, env))
	}
	list := t.flow(args[0], env)
	switch {
	case name != "flatten":
		return list
	case len(args) > 1: // of how many levels is not known
		t.reads.Consume(list)
	}
	t.reads.Presence(list.Elem()) // the number of items of the result
	return t.flattened(args, list)
}

// flattened is the list of the items of the lists in a list.
func (t *tracer) flattened(args []ast.Expr, lists *Flow) *Flow {
	out := ListOf(lists.Elem().Elem())
	if of := t.ast.GetType(args[0].ID()).Parameters(); len(args) == 1 && len(of) == 1 && of[0].Kind() == types.ListKind {
		return out
	}
	return union(lists, out) // what is no list stays in its place
}

func (t *tracer) isList(e ast.Expr) bool {
	kind := t.ast.GetType(e.ID()).Kind()
	return kind == types.ListKind || kind == types.DynKind
}
