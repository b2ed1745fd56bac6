package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
)

// neverEqual finds texts that a field is compared with and that its schema does not allow.
func neverEqual(p *policy) {
	p.eachExpr(func(f fields, e ast.Expr) {
		switch a, b, how := sides(e); how {
		case operators.Equals, operators.NotEquals:
			p.compared(f, f.read(a), b)
			p.compared(f, f.read(b), a)
		case operators.In:
			p.compared(f, f.read(b).items(), a)
			if b.Kind() == ast.ListKind {
				p.compared(f, f.read(a), b.AsList().Elements()...)
			}
		}
	})
}

// compared reports the texts that are written out and that a field never has.
func (p *policy) compared(f fields, r reading, with ...ast.Expr) {
	if r.of == nil || r.of.Kind != schema.String {
		return
	}
	for _, e := range with {
		text, ok := given(e)
		if !ok || text == "" || slices.Contains(r.instead, text) { // "" stands for a field that is not set
			continue
		}
		if reason, allowed := r.of.Refused(text); reason != "" {
			p.report(document.NeverEqual, f.program.At(e), cmp.Or(document.DidYouMean(text, r.of.Enum), allowed), fmt.Sprintf("the field %s, so this never equals it", reason))
		}
	}
}

// given returns a text that is written out, also one as an optional.
func given(e ast.Expr) (string, bool) {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "optional.of" {
		e = e.AsCall().Args()[0]
	}
	return cel.LiteralString(e)
}
