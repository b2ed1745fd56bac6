package check

import (
	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

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
