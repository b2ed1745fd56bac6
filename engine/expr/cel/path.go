package cel

import (
	"slices"

	"github.com/google/cel-go/common/ast"
)

// Is reports whether the expression is a name with field accesses, and which.
func (p *Program) Is(name string, fields ...string) bool {
	e := p.checked.NativeRep().Expr()
	for _, field := range slices.Backward(fields) {
		if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() || e.AsSelect().FieldName() != field {
			return false
		}
		e = e.AsSelect().Operand()
	}
	return e.Kind() == ast.IdentKind && e.AsIdent() == name
}
