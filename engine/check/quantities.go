package check

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// quantities finds quantities that are compared as texts: "1" < "500m" < "9".
func quantities(p *policy) {
	p.eachProgram(func(f fields) {
		ast.PostOrderVisit(f.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
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
		}))
	})
}

// schemaOf returns the schema's type of a field; nil when there is none.
func (f fields) schemaOf(e ast.Expr) *schema.Type {
	if e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() && handsOn[e.AsCall().FunctionName()] {
		return f.schemaOf(e.AsCall().Target())
	}
	if t := f.object(e); t != nil {
		return t
	}
	a, ok := f.accessOf(e)
	if !ok {
		return nil
	}
	switch of := f.schemaOf(a.of); {
	case of == nil:
		return nil
	case of.Kind == schema.Object:
		return of.Fields[strings.TrimPrefix(a.field, ".")]
	default:
		return of.Elem
	}
}
