package cel

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// boundedInCEL are the functions of CEL whose work is at most one pass over values that
// are there already, and that build no lists and no texts. An expression of
// these alone cannot cost more than its own length times the size of an
// object, so its cost need not be counted step by step, which takes longer
// than the expression itself.
var boundedInCEL = map[string]bool{
	operators.Conditional: true, operators.LogicalAnd: true, operators.LogicalOr: true, operators.LogicalNot: true,
	operators.Equals: true, operators.NotEquals: true, operators.Less: true, operators.LessEquals: true,
	operators.Greater: true, operators.GreaterEquals: true, operators.In: true, operators.Negate: true,
	operators.Index: true, operators.OptIndex: true, operators.OptSelect: true,
	"size": true, "hasValue": true, "value": true, "orValue": true, "or": true, "first": true, "last": true,
	"optional.of": true, "optional.none": true, "optional.ofNonZeroValue": true,
	"startsWith": true, "endsWith": true, "duration": true, "timestamp": true, "int": true, "dyn": true,
}

// weigh returns the number of nodes of an expression, and whether it is made of
// bounded functions only, without a loop and without a list or map of its own.
func (v vocabulary) weigh(tree ast.Expr) (nodes int, simple bool) {
	simple = true
	ast.PostOrderVisit(tree, ast.NewExprVisitor(func(x ast.Expr) {
		nodes++
		switch x.Kind() {
		case ast.ComprehensionKind, ast.ListKind, ast.MapKind, ast.StructKind:
			simple = false
		case ast.CallKind:
			simple = simple && v.bounded(x.AsCall().FunctionName())
		}
	}))
	return nodes, simple
}

func (v vocabulary) bounded(function string) bool {
	own := v[function]
	return boundedInCEL[function] || own != nil && own.Bounded
}
