package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// spreader computes the spreads of the terms of one rule.
type spreader struct {
	rules *rules
	// same leads from a variable to one that it is equal to.
	same map[ast.Var]ast.Var
	// stands are the terms that a variable may stand for, large the variables
	// that hold arguments and results of functions.
	stands map[ast.Var][]*ast.Term
	large  map[ast.Var]bool
	known  map[ast.Var]spread
	busy   map[ast.Var]bool
}

func newSpreader(r *rules, rule *ast.Rule) *spreader {
	s := &spreader{
		rules: r, same: map[ast.Var]ast.Var{}, stands: map[ast.Var][]*ast.Term{}, large: map[ast.Var]bool{},
		known: map[ast.Var]spread{}, busy: map[ast.Var]bool{},
	}
	equalities := func(note func(a, b *ast.Term)) {
		ast.WalkExprs(rule, func(e *ast.Expr) bool {
			if e.IsEquality() && len(e.Operands()) == 2 {
				unify(e.Operand(0), e.Operand(1), note)
			}
			return false
		})
	}
	equalities(s.equal)
	equalities(s.stand)
	for _, arg := range rule.Head.Args {
		s.mark(arg)
	}
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		if e.IsCall() && e.Operator().HasPrefix(ast.DefaultRootRef) && len(e.Operands()) > 0 {
			s.mark(e.Operand(len(e.Operands()) - 1))
		}
		return false
	})
	return s
}

// mark notes the variables of a term as large.
func (s *spreader) mark(t *ast.Term) {
	ast.WalkVars(t, func(v ast.Var) bool { s.large[s.root(v)] = true; return false })
}

// root gives the one variable that stands for all that are equal.
func (s *spreader) root(v ast.Var) ast.Var {
	for next, ok := s.same[v]; ok; next, ok = s.same[v] {
		v = next
	}
	return v
}

// unify calls note for the terms that must be equal when two terms are.
func unify(a, b *ast.Term, note func(a, b *ast.Term)) {
	note(a, b)
	p, pOK := a.Value.(*ast.Array)
	q, qOK := b.Value.(*ast.Array)
	if pOK && qOK && p.Len() == q.Len() {
		for i := range p.Len() {
			unify(p.Elem(i), q.Elem(i), note)
		}
	}
}

// equal notes that two variables are equal.
func (s *spreader) equal(a, b *ast.Term) {
	x, xVar := a.Value.(ast.Var)
	y, yVar := b.Value.(ast.Var)
	if xVar && yVar && s.root(x) != s.root(y) {
		s.same[s.root(x)] = s.root(y)
	}
}

// stand notes that a variable stands for a term.
func (s *spreader) stand(a, b *ast.Term) {
	x, xVar := a.Value.(ast.Var)
	y, yVar := b.Value.(ast.Var)
	switch {
	case xVar && !yVar:
		s.stands[s.root(x)] = append(s.stands[s.root(x)], b)
	case yVar && !xVar:
		s.stands[s.root(y)] = append(s.stands[s.root(y)], a)
	}
}

func (s *spreader) fits(rule *ast.Rule) bool {
	fits := true
	ast.WalkTerms(rule, func(t *ast.Term) bool {
		if fits {
			of := s.of(t)
			fits = of.fits()
		}
		// what a literal is made of is smaller than the literal
		return !fits || !ast.IsComprehension(t.Value)
	})
	return fits
}

func (s *spreader) of(t *ast.Term) (out spread) {
	out.nodes = 1
	add := func(t *ast.Term) { out.add(s.of(t)) }
	switch v := t.Value.(type) {
	case ast.Var:
		return s.ofVar(s.root(v))
	case ast.Ref:
		if v.HasPrefix(ast.DefaultRootRef) {
			out.nodes = s.rules.size(v)
		}
	case *ast.Array:
		v.Foreach(add)
	case ast.Set:
		v.Foreach(add)
	case ast.Object:
		v.Foreach(func(key, item *ast.Term) { add(key); add(item) })
	case *ast.ArrayComprehension:
		add(v.Term)
	case *ast.SetComprehension:
		add(v.Term)
	case *ast.ObjectComprehension:
		add(v.Key)
		add(v.Value)
	}
	return out
}

func (s *spreader) ofVar(v ast.Var) spread {
	if out, ok := s.known[v]; ok {
		return out
	}
	out := spread{nodes: 1}
	if s.large[v] {
		out.repeat = map[ast.Var]int{v: 1}
	}
	if s.busy[v] {
		return out
	}
	s.busy[v] = true
	for _, t := range s.stands[v] {
		out.add(s.of(t))
	}
	s.busy[v] = false
	s.known[v] = out
	return out
}
