package check

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// absenceIn looks at one expression.
type absenceIn struct {
	absence *absence
	fields  fields
	said    keys
}

func (c *absenceIn) visit(e ast.Expr, guards keys) {
	switch {
	case e.Kind() == ast.IdentKind:
		c.use(e.AsIdent(), guards)
	case e.Kind() == ast.ComprehensionKind:
		c.loop(e.AsComprehension(), guards)
	case e.Kind() == ast.CallKind && (c.branch(e.AsCall(), guards) || c.null(e, guards)):
	default:
		c.children(e, guards)
	}
	c.take(e, guards)
}

func (c *absenceIn) children(e ast.Expr, guards keys) {
	for _, child := range cel.Children(e) {
		c.visit(child, guards)
	}
}

// null visits a comparison of a field with null, which is a finding of its own.
func (c *absenceIn) null(e ast.Expr, guards keys) bool {
	with, ok := compared(e)
	if ok && with.Kind() == ast.SelectKind {
		c.children(with, guards)
		return true
	}
	return false
}

// use notes what guards a variable here.
func (c *absenceIn) use(name string, guards keys) {
	have, seen := c.absence.guards[name]
	if !seen {
		c.absence.guards[name] = guards.with()
		return
	}
	for key := range have {
		if !guards[key] {
			delete(have, key)
		}
	}
}

func (c *absenceIn) loop(l ast.ComprehensionExpr, guards keys) {
	c.visit(l.IterRange(), guards)
	c.visit(l.AccuInit(), guards)
	inner := guards.with(c.absence.mentions.of(c.fields, l.IterRange()).all(), c.absence.mentions.of(c.fields, l.AccuInit()).all())
	for _, part := range []ast.Expr{l.LoopCondition(), l.LoopStep(), l.Result()} {
		c.visit(part, inner)
	}
}

// branch visits the parts of an and, an or or a choice: one guards another.
func (c *absenceIn) branch(call ast.CallExpr, guards keys) bool {
	args := call.Args()
	switch call.FunctionName() {
	case operators.Conditional:
		c.visit(args[0], guards)
		c.visit(args[1], guards.with(c.absence.mentions.when(c.fields, args[0], true).all()))
		c.visit(args[2], guards.with(c.absence.mentions.when(c.fields, args[0], false).all()))
		return true
	case operators.LogicalAnd, operators.LogicalOr:
		for i, arg := range args {
			inner := guards
			for j, other := range args {
				if m := c.absence.mentions.when(c.fields, other, call.FunctionName() == operators.LogicalAnd); j < i {
					inner = inner.with(m.all())
				} else if j > i { // the order does not matter: false && error is false
					inner = inner.with(m.asked)
				}
			}
			c.visit(arg, inner)
		}
		return true
	}
	return false
}

// take reports an access that nothing guards.
func (c *absenceIn) take(e ast.Expr, guards keys) {
	a, ok := c.fields.accessOf(e)
	if !ok || a.asks {
		return
	}
	if a.of.Kind() == ast.IdentKind && c.absence.nullable[a.of.AsIdent()] {
		if key := nothing(a.of.AsIdent()); !guards.has(key) && !c.said[key] {
			c.said[key] = true
			name := a.of.AsIdent()
			c.absence.policy.report(document.NullInput, c.fields.program.At(a.of), fmt.Sprintf("test it before, as in %s != null && ..., or read it with .?", name),
				name+" is null where there is no such object; then this fails")
			return
		}
	}
	key := c.fields.key(a)
	if !c.fields.mayLack(a) || key == "" || guards.has(key) || c.said[key] {
		return
	}
	c.said[key] = true
	if c.said[c.fields.keyOf(a.of)] {
		return // that the map itself may be absent says enough
	}
	c.absence.policy.report(document.AbsentField, c.fields.program.At(e), hintFor(a.field), fmt.Sprintf("%q may be absent; then this fails", strings.Trim(a.field, ".[]")))
}

func hintFor(field string) string {
	if name, ok := strings.CutPrefix(field, "."); ok {
		return fmt.Sprintf("read it with .?%s and orValue(...), or test has(x.%s) before", name, name)
	}
	key := strings.Trim(field, "[]")
	return fmt.Sprintf("read it with [?%q] and orValue(...), or test %q in x before", key, key)
}
