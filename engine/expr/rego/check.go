package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/edict-dev/edict/engine/document"
)

// Limits of what is compiled. The time of OPA's compiler, which nothing can
// interrupt, grows with the third power of the one and the square of the other.
const (
	// maxDepth is the deepest nesting of terms; a sum nests once for each +, an
	// else once below its rule.
	maxDepth = 100
	// maxRules is how many rules the modules of a library have together.
	maxRules = 2_000
)

// checkText refuses what OPA's compiler would take.
func (l *Library) checkText(m *ast.Module, problems *document.Problems) {
	l.checkDepth(m, problems)
	l.checkCalls(m, problems)
	l.checkNumbers(m, problems)
}

func (l *Library) checkDepth(m *ast.Module, problems *document.Problems) {
	depth, found := 0, false
	enter := func(x any) bool {
		at := nests(x)
		if at == nil {
			return false
		}
		if depth++; depth > maxDepth && !found {
			found = true
			problems.Add(l.sources.problem(at, document.Error, "this is nested too deep", "make a part of it a rule of its own"))
		}
		return false
	}
	leave := func(x any) {
		if nests(x) != nil {
			depth--
		}
	}
	ast.NewBeforeAfterVisitor(enter, leave).Walk(m)
}

// nests gives the place of a node that counts as a level, nil for others.
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

// checkCalls refuses print, which OPA's compiler takes out without a word, and
// unification: it goes through large values in a way that takes stack without
// limit, and := and == say the same more clearly.
func (l *Library) checkCalls(m *ast.Module, problems *document.Problems) {
	check := func(name string, at *ast.Location) {
		switch name {
		case ast.Print.Name:
			message, hint := l.noFunction(name)
			problems.Add(l.sources.problem(at, document.Error, message, hint))
		case ast.Equality.Name:
			problems.Add(l.sources.problem(at, document.Error, "unification with = is not allowed in a policy", "write := to set a variable, == to compare"))
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

// checkNumbers refuses numbers that no double holds: 1e999999999 is short to
// write and long to calculate with.
func (l *Library) checkNumbers(m *ast.Module, problems *document.Problems) {
	ast.WalkTerms(m, func(t *ast.Term) bool {
		if n, ok := t.Value.(ast.Number); ok && !tame(n) {
			problems.Add(l.sources.problem(t.Location, document.Error, "this number is too large or too long", ""))
		}
		return false
	})
}
