package check

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/document"
)

// quantities finds quantities that are compared as texts: "1" < "500m" < "9".
func quantities(p *policy) {
	p.eachExpr(func(f fields, e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		switch e.AsCall().FunctionName() {
		case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
			for _, arg := range e.AsCall().Args() {
				if t := f.schemaOf(arg); t != nil && t.Quantity {
					p.report(document.QuantityAsText, f.program.At(e), "quantity(a).isGreaterThan(quantity(b)), or quantity.value(a) > 100",
						"a quantity is compared letter by letter: \"1\" < \"500m\" < \"9\"")
					return
				}
			}
		}
	})
}
