package check

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// quantities finds quantities that are compared as texts: "1" < "500m" < "9".
func quantities(p *policy) {
	p.eachExpr(func(f fields, e ast.Expr) {
		switch name, args := called(e); name {
		case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
			for _, arg := range args {
				if t := f.schemaOf(arg); t != nil && t.Quantity {
					p.report(document.QuantityAsText, f.program.At(e), "quantity(a).isGreaterThan(quantity(b)), or quantity.value(a) > 100",
						"a quantity is compared letter by letter: \"1\" < \"500m\" < \"9\"")
					return
				}
			}
		}
	})
}

// quantitiesOfNumbers finds quantity(x) of a field that is an integer or a text: it fails
// for an integer. A policy that asks for the type of such a field knows that.
func quantitiesOfNumbers(p *policy) {
	asks, found := false, []func(){}
	p.eachExpr(func(f fields, e ast.Expr) {
		if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 1 {
			return
		}
		if of := f.read(e.AsCall().Args()[0]).of; of == nil || !of.IntOrString {
			return
		}
		switch e.AsCall().FunctionName() {
		case "type":
			asks = true
		case "quantity":
			found = append(found, func() {
				p.report(document.QuantityOfNumber, f.program.At(e), cel.QuantityOfAny, "quantity(x) takes a text, and this field may be a number; then this fails")
			})
		}
	})
	if asks {
		return
	}
	for _, report := range found {
		report()
	}
}
