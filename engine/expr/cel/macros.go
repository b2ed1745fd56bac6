package cel

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// CountDistinct is a macro of the policy language: countDistinct(list, x, e) is
// the number of different values of e over list.
const CountDistinct = "countDistinct"

// Fold is a macro of the policy language: list.fold(acc, init, x, e) is the value
// of e for the last item x, where acc is that for the item before.
const Fold = "fold"

func macros() cel.EnvOption {
	return cel.Macros(cel.ReceiverMacro(Fold, 4, fold), cel.GlobalMacro(CountDistinct, 3, func(mef cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		mapped, err := parser.MakeMap(mef, args[0], args[1:])
		if err != nil || mapped == nil {
			return nil, err
		}
		return mef.NewCall("size", mef.NewMemberCall("distinct", mapped)), nil
	}))
}

func fold(mef cel.MacroExprFactory, list ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
	for _, i := range []int{0, 2} {
		if args[i].Kind() != ast.IdentKind {
			return nil, mef.NewError(args[i].ID(), "fold takes two names: list.fold(acc, init, x, expression)")
		}
	}
	acc, item := args[0].AsIdent(), args[2].AsIdent()
	if acc == item {
		return nil, mef.NewError(args[2].ID(), "the two names of a fold must differ")
	}
	return mef.NewComprehension(list, item, acc, args[1], mef.NewLiteral(types.True), args[3], mef.NewIdent(acc)), nil
}
