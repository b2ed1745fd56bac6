package cel

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
)

// CountDistinct is a macro of the policy language: countDistinct(list, x, e) is
// the number of different values of e over list.
const CountDistinct = "countDistinct"

func macros() cel.EnvOption {
	return cel.Macros(cel.GlobalMacro(CountDistinct, 3, func(mef cel.MacroExprFactory, _ ast.Expr, args []ast.Expr) (ast.Expr, *cel.Error) {
		mapped, err := parser.MakeMap(mef, args[0], args[1:])
		if err != nil || mapped == nil {
			return nil, err
		}
		return mef.NewCall("size", mef.NewMemberCall("distinct", mapped)), nil
	}))
}
