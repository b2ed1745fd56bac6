package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// namespaces finds comparisons of namespaces in the where of inputs that are
// restricted to the namespace of the primary object: those that say this again, and
// those that look for objects of another namespace, which are never there.
func namespaces(p *policy) {
	for _, in := range p.plan.Inputs {
		if in.Own && in.Where != nil {
			w := &where{fields: fieldsOf(in.Where), policy: p, in: in, fromItem: map[string]bool{analyze.ItemName: true}}
			w.look()
		}
	}
}

// where is that of one input.
type where struct {
	fields fields
	policy *policy
	in     *plan.Input
	// fromItem are the item, and the variables of loops over lists of it.
	fromItem map[string]bool
}

func (w *where) look() {
	all := w.fields.ast.Expr()
	ast.PreOrderVisit(all, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind && w.ofItem(e.AsComprehension().IterRange()) {
			w.fromItem[e.AsComprehension().IterVar()] = true
		}
	}))
	for _, part := range and(all) {
		if w.again(part) {
			w.policy.report(document.RedundantNamespace, w.fields.program.At(part), "leave it out",
				fmt.Sprintf("the input %q has objects of the namespace of the primary object only, which this says again", w.in.Written()))
		}
	}
	ast.PostOrderVisit(all, ast.NewExprVisitor(func(e ast.Expr) {
		if w.elsewhere(e) {
			w.policy.report(document.OtherNamespace, w.fields.program.At(e), "write within: cluster for objects of all namespaces, or namespace: for those of one",
				fmt.Sprintf("the input %q has objects of the namespace of the primary object only, and its where compares with another", w.in.Written()))
		}
	}))
}

// and returns the parts of a condition that must all hold.
func and(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var out []ast.Expr
	for _, arg := range e.AsCall().Args() {
		out = append(out, and(arg)...)
	}
	return out
}

// again reports whether an expression says that the item is in the namespace of the key.
func (w *where) again(e ast.Expr) bool {
	a, b, name := sides(e)
	return name == operators.Equals && (w.itemNamespace(a) && w.keyNamespace(b) || w.itemNamespace(b) && w.keyNamespace(a))
}

// elsewhere reports whether an expression compares the namespace of the item with
// something else than that of the key, or that of the key with another field of the item.
func (w *where) elsewhere(e ast.Expr) bool {
	a, b, name := sides(e)
	if name == "" {
		return false
	}
	return w.differs(a, b, name) || w.differs(b, a, name)
}

func (w *where) differs(a, b ast.Expr, name string) bool {
	switch {
	case w.itemNamespace(a):
		return !w.ofItem(b) && (!w.keyNamespace(b) || name == operators.NotEquals)
	case w.keyNamespace(a):
		return w.ofItem(b) && !w.itemNamespace(b) && name != operators.NotEquals
	default:
		return false
	}
}

// sides returns what an expression compares, and how; "" when it does not.
func sides(e ast.Expr) (a, b ast.Expr, name string) {
	if e.Kind() != ast.CallKind {
		return nil, nil, ""
	}
	switch name := e.AsCall().FunctionName(); name {
	case operators.Equals, operators.NotEquals, operators.In:
		return e.AsCall().Args()[0], e.AsCall().Args()[1], name
	}
	return nil, nil, ""
}

// ofItem reports whether an expression reads the item.
func (w *where) ofItem(e ast.Expr) bool {
	for name := range cel.Names(e) {
		if w.fromItem[name] {
			return true
		}
	}
	return false
}

func (w *where) itemNamespace(e ast.Expr) bool { return w.namespaceOf(e, analyze.ItemName) }

func (w *where) keyNamespace(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && e.AsIdent() == analyze.KeyNamespace.String() || w.namespaceOf(e, analyze.ObjectRef.Name)
}

func (w *where) namespaceOf(e ast.Expr, name string) bool {
	root, path, ok := w.fields.chain(e)
	return ok && root == name && slices.Equal(path, strings.Split("metadata.namespace", "."))
}
