package verify

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
)

// constants are the texts and whole numbers that policies compare fields with, by the
// last name of the field.
type constants struct {
	texts   map[string][]string
	numbers map[string][]int64
}

func constantsOf(policies []*plan.Policy) constants {
	c := constants{texts: map[string][]string{}, numbers: map[string][]int64{}}
	for _, p := range policies {
		eachProgram(p, func(program *cel.Program) {
			if program != nil {
				c.visit(program.Tree().Expr())
			}
		})
	}
	return c
}

// visit takes the constants of an expression: those that are arguments of a call beside
// a field, and the items of a list beside one.
func (c *constants) visit(e ast.Expr) {
	if e.Kind() == ast.CallKind {
		name, found := "", []ast.Expr{}
		for _, part := range cel.Children(e) {
			if field := fieldOf(part); field != "" {
				name = field
			}
			found = append(found, literals(part)...)
		}
		for _, l := range found {
			c.take(name, l)
		}
	}
	for _, part := range cel.Children(e) {
		c.visit(part)
	}
}

func (c *constants) take(name string, l ast.Expr) {
	switch v := l.AsLiteral().(type) {
	case types.String:
		if text := string(v); text != "" && !slices.Contains(c.texts[name], text) {
			c.texts[name] = append(c.texts[name], text)
		}
	case types.Int:
		for _, n := range []int64{int64(v), int64(v) + 1} {
			if !slices.Contains(c.numbers[name], n) {
				c.numbers[name] = append(c.numbers[name], n)
			}
		}
	}
}

// literals returns a literal, or those of a list.
func literals(e ast.Expr) (out []ast.Expr) {
	switch e.Kind() {
	case ast.LiteralKind:
		return []ast.Expr{e}
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			out = append(out, literals(item)...)
		}
	}
	return out
}

// fieldOf returns the last field that an expression selects: of object.?status.phase
// and of what is called on it, phase.
func fieldOf(e ast.Expr) string {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().FieldName()
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() == "_?._" || call.FunctionName() == "_[_]" || call.FunctionName() == "_[?_]" {
			if name, ok := cel.LiteralString(call.Args()[1]); ok {
				return name
			}
			return fieldOf(call.Args()[0])
		}
		if call.IsMemberFunction() {
			return fieldOf(call.Target())
		}
	}
	return ""
}

// eachProgram visits all expressions of a policy.
func eachProgram(p *plan.Policy, visit func(*cel.Program)) {
	for _, in := range p.Inputs {
		visit(in.Get)
		visit(in.Where)
		visit(in.Key)
	}
	eachVariable(p.Variables, visit)
	for _, r := range p.Rules {
		visit(r.When)
		visit(r.ForEach)
		eachVariable(r.Locals, visit)
		for _, row := range r.Cases {
			visit(row.When)
		}
		for a := range r.Actions() {
			plan.Programs(a, visit)
		}
	}
}

func eachVariable(list []*plan.Variable, visit func(*cel.Program)) {
	for _, v := range list {
		visit(v.Program)
		visit(v.When)
		v.Value.Walk(visit)
		if c := v.Collection; c != nil {
			visit(c.ForEach)
			visit(c.When)
			c.Value.Walk(visit)
			eachVariable(c.Locals, visit)
		}
	}
}
