package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
)

// neverEqual finds texts that a field is compared with and that its schema does not allow.
func neverEqual(p *policy) {
	p.eachProgram(func(f fields) {
		f.primary = p.plan.Primary.Kind
		ast.PostOrderVisit(f.ast.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
			if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
				return
			}
			a, b := e.AsCall().Args()[0], e.AsCall().Args()[1]
			switch e.AsCall().FunctionName() {
			case operators.Equals, operators.NotEquals:
				p.compared(f, f.read(a), b)
				p.compared(f, f.read(b), a)
			case operators.In:
				p.compared(f, f.read(b).items(), a)
				if b.Kind() == ast.ListKind {
					p.compared(f, f.read(a), b.AsList().Elements()...)
				}
			}
		}))
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

// reading is a field that an expression reads.
type reading struct {
	// of is the schema's type of the field; nil if the expression may give something else.
	of *schema.Type
	// instead are the texts that the expression gives where there is no field.
	instead []string
}

// items is the reading of the items of a list.
func (r reading) items() reading {
	if r.of == nil {
		return reading{}
	}
	return reading{of: r.of.Elem}
}

// read returns the field that an expression gives, and nothing else but a text or an empty
// list in its place.
func (f fields) read(e ast.Expr) reading {
	if e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() {
		return f.instead(e.AsCall())
	}
	a, ok := f.accessOf(e)
	if !ok {
		return reading{}
	}
	if a.of.Kind() == ast.IdentKind && a.of.AsIdent() == "object" && strings.TrimPrefix(a.field, ".") == "kind" {
		return reading{of: &schema.Type{Kind: schema.String, Enum: []string{f.primary}}}
	}
	if t := f.object(a.of); t != nil {
		return reading{of: t.Fields[strings.TrimPrefix(a.field, ".")]}
	}
	return f.read(a.of).items()
}

// instead is read for a function of an optional.
func (f fields) instead(call ast.CallExpr) reading {
	switch call.FunctionName() {
	case "value":
		return f.read(call.Target())
	case "orValue":
		out, value := f.read(call.Target()), call.Args()[0]
		if text, ok := cel.LiteralString(value); ok {
			out.instead = append(out.instead, text)
			return out
		}
		if value.Kind() == ast.ListKind && value.AsList().Size() == 0 {
			return out
		}
	}
	return reading{}
}
