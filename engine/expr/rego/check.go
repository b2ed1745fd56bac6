package rego

import "github.com/open-policy-agent/opa/v1/ast"

// Limits of what is compiled. The time of OPA's compiler, which nothing can
// interrupt, grows with the third power of the one and the square of the other.
const (
	// maxDepth is the deepest nesting of terms; a sum nests once for each +, an
	// else once below its rule.
	maxDepth = 100
	// maxRules is how many rules the modules of a library have together.
	maxRules = 2_000
)

// checkDepth reports whether a module is not nested too deep.
func (p *program) checkDepth(m *ast.Module) bool {
	depth, found := 0, false
	enter := func(x any) {
		at := nests(x)
		if at == nil {
			return
		}
		if depth++; depth > maxDepth && !found {
			found = true
			p.problems.Add(p.sources.problem(at, "this is nested too deep", "make a part of it a rule of its own"))
		}
	}
	leave := func(x any) {
		if nests(x) != nil {
			depth--
		}
	}
	visit(m, enter, leave)
	return !found
}

// nests returns the place of a node that counts as a level, nil for others.
func nests(x any) *ast.Location {
	switch x := x.(type) {
	case *ast.Term:
		return x.Location
	case *ast.Expr:
		return x.Location
	case *ast.Rule:
		return x.Location
	}
	return nil
}

// checkCalls refuses print, which OPA's compiler takes out without a word.
func (p *program) checkCalls(m *ast.Module) {
	check := func(name string, at *ast.Location) {
		if name == ast.Print.Name {
			message, hint := p.noFunction(name)
			p.problems.Add(p.sources.problem(at, message, hint))
		}
	}
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Expr:
			if x.IsCall() {
				check(x.Operator().String(), x.Location)
			}
		case ast.Call:
			check(x[0].String(), x[0].Location)
		}
		return false
	}).Walk(m)
}
