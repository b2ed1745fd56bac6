package cel

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/traits"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// memberOf is x in list: x is compared with each item. In a map it is looked up.
func memberOf(a *callArgs) expr.Need {
	l, ok := a[1].(traits.Lister)
	if !ok {
		return looked(a)
	}
	return memberAmong(a, length(l))
}

// memberOfRead is x in list for a list that was read: a text is looked up in it.
func memberOfRead(a *callArgs) expr.Need {
	l, ok := a[1].(*value.List)
	if !ok {
		return memberOf(a)
	}
	return memberAmong(a, l.Looks(a[0]))
}

// memberAmong is for comparing with so many items.
func memberAmong(a *callArgs, n int) expr.Need {
	need := expr.Need{Work: 1 + units(n, itemsPerUnit)}
	if !quick(a[0]) {
		m := measure{}
		need.Work += units(times(n, m.deep(a[0])), comparisonsPerUnit*value.ScalarBytes/4) + m.work()
	} else if long := textBytes(a[0]); long > value.ScalarBytes {
		need.Work += units(times(n, long), bytesPerUnit)
	}
	return need
}

// readMemberDemand is declared of x in list for a list that was read.
var readMemberDemand = &demand{need: memberOfRead}

// readLists finds the calls x in list whose list is read: a declared name, or a field or
// entry of one. Such a list is settled, so that it keeps what was made to find texts in
// it, and it is the same with the interpreter and without. A list that the expression
// makes itself is a list of CEL's with the interpreter, in which texts are not looked up.
func readLists(e ast.Expr, bound []string, found map[int64]bool) {
	switch e.Kind() {
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		bound = append(slices.Clone(bound), c.IterVar(), c.IterVar2(), c.AccuVar())
		for _, part := range []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
			readLists(part, bound, found)
		}
		return
	case ast.CallKind:
		if call := e.AsCall(); isIn(call.FunctionName()) && isRead(call.Args()[1], bound) {
			found[e.ID()] = true
		}
	}
	for _, part := range Children(e) {
		readLists(part, bound, found)
	}
}

func isIn(function string) bool { return function == operators.In || function == operators.OldIn }

// isRead reports whether an expression reads what a declared name has, and nothing else.
// In a loop over what is read, the items are read as well; that is not looked for.
func isRead(e ast.Expr, bound []string) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return !slices.Contains(bound, e.AsIdent())
	case ast.SelectKind:
		return !e.AsSelect().IsTestOnly() && isRead(e.AsSelect().Operand(), bound)
	case ast.CallKind:
		call := e.AsCall()
		return call.FunctionName() == operators.Index && isRead(call.Args()[0], bound)
	}
	return false
}

// looked is for a key of a map.
func looked(a *callArgs) expr.Need {
	return expr.Need{Work: units(textBytes(a[0]), bytesPerUnit)}
}
