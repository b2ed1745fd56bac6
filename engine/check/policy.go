package check

import (
	"slices"

	"github.com/google/cel-go/common/ast"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// policy is a policy under check.
type policy struct {
	plan     *plan.Policy
	unit     *source.Unit
	bundle   *source.Bundle
	problems *document.Problems
	text     *document.Source
}

// report adds a finding, with the line that it is on.
func (p *policy) report(code document.Code, at document.Position, hint, message string) {
	found := code.At(at, hint, message)
	if at.File == p.text.File {
		found.Source = p.text.Line(at.Line)
	}
	p.problems.Add(found)
}

// wrong reports whether a file has errors.
func wrong(b *source.Bundle, file string) bool {
	return slices.ContainsFunc(b.Problems, func(p document.Problem) bool { return p.File == file && p.Severity == document.Error })
}

// eachExpr visits every node of every expression of a policy, with the names in its scope.
func (p *policy) eachExpr(visit func(fields, ast.Expr)) {
	bound := p.readings()
	p.plan.EachProgram(func(program *cel.Program) {
		f := fieldsOf(program)
		f.bound, f.primary = bound, p.plan.Primary.Kind
		f.walk(f.ast.Expr(), visit)
	})
}

// readings returns the fields that variables read, by the names of the variables in
// expressions. It leaves out names that several rules declare.
func (p *policy) readings() map[string]reading {
	bound, seen := map[string]reading{}, map[string]bool{}
	add := func(name string, v *plan.Variable) {
		if v.Program != nil && !seen[name] {
			f := fieldsOf(v.Program)
			f.bound = bound
			bound[name] = f.read(f.ast.Expr())
		} else {
			delete(bound, name)
		}
		seen[name] = true
	}
	for _, v := range p.plan.Variables {
		add(analyze.VariableRef(v.Name).String(), v)
	}
	for _, r := range p.plan.Rules {
		for _, v := range r.Locals {
			add(v.Name, v)
		}
	}
	return bound
}
