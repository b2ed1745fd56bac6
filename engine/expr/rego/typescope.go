package rego

import "github.com/open-policy-agent/opa/v1/ast"

// typeScope is what a rule's terms may name.
type typeScope struct {
	costs  *typeCosts
	module *ast.Module
	// local are the variables with the values that they may have; none are those that
	// come from a caller. known are their costs.
	local map[ast.Var][]*ast.Term
	known map[ast.Var]int
}

func newTypeScope(c *typeCosts, m *ast.Module, r *ast.Rule) *typeScope {
	s := &typeScope{costs: c, module: m, local: map[ast.Var][]*ast.Term{}, known: map[ast.Var]int{}}
	for _, arg := range r.Head.Args {
		s.bind(arg, nil)
	}
	enter := func(x any) {
		switch x := x.(type) {
		case *ast.Expr:
			s.expr(x)
		case *ast.SomeDecl:
			s.some(x)
		case *ast.Every:
			s.bind(x.Value, x.Domain)
		}
	}
	alone := *r // the next else has variables of its own
	alone.Else = nil
	ast.NewBeforeAfterVisitor(func(x any) bool { enter(x); return false }, func(any) {}).Walk(&alone)
	return s
}

// bind notes that the variables of a pattern may be a value or parts of it.
func (s *typeScope) bind(pattern, value *ast.Term) {
	ast.WalkVars(pattern, func(v ast.Var) bool {
		s.local[v] = append(s.local[v], value)
		return false
	})
}

func (s *typeScope) expr(e *ast.Expr) {
	if !e.IsAssignment() && !e.IsEquality() || len(e.Operands()) != 2 {
		return
	}
	s.bind(e.Operand(0), e.Operand(1))
	if e.IsEquality() {
		if v, ok := e.Operand(1).Value.(ast.Var); ok {
			s.local[v] = append(s.local[v], e.Operand(0))
		}
	}
}

// some notes the variables of: some v in list.
func (s *typeScope) some(d *ast.SomeDecl) {
	for _, symbol := range d.Symbols {
		call, is := symbol.Value.(ast.Call)
		if !is {
			s.bind(symbol, nil)
			continue
		}
		for _, pattern := range call[1 : len(call)-1] {
			s.bind(pattern, call[len(call)-1])
		}
	}
}

// term returns what the type of a term costs.
func (s *typeScope) term(t *ast.Term) int {
	switch v := t.Value.(type) {
	case *ast.Array:
		return s.parts(v.Foreach)
	case ast.Set:
		return s.parts(v.Foreach)
	case ast.Object:
		return s.parts(func(part func(*ast.Term)) { v.Foreach(func(_, value *ast.Term) { part(value) }) })
	case *ast.ArrayComprehension:
		return bounded(1 + s.term(v.Term))
	case *ast.SetComprehension:
		return bounded(1 + s.term(v.Term))
	case *ast.ObjectComprehension:
		return bounded(1 + s.term(v.Key) + s.term(v.Value))
	case ast.Ref:
		return s.ref(v)
	case ast.Var:
		return s.ref(ast.Ref{t})
	case ast.Call:
		if ref, ok := v[0].Value.(ast.Ref); ok {
			return s.ref(ref)
		}
	}
	return 1
}

// parts returns the cost of a list or an object, whose parts are compared twice.
func (s *typeScope) parts(each func(func(*ast.Term))) int {
	cost := 1
	each(func(part *ast.Term) { cost = bounded(cost + 2*s.term(part)) })
	return cost
}

// ref returns the cost of what a name stands for: a variable, an import, or a rule.
func (s *typeScope) ref(ref ast.Ref) int {
	head, ok := ref[0].Value.(ast.Var)
	if !ok {
		return 1
	}
	if values, local := s.local[head]; local {
		return s.variable(head, values)
	}
	if ref[0].Equal(ast.DefaultRootDocument) {
		return 1 + s.costs.ref(ref)
	}
	for _, i := range s.module.Imports {
		if path, is := i.Path.Value.(ast.Ref); is && i.Name() == head && path.HasPrefix(ast.DefaultRootRef) {
			return 1 + s.costs.ref(path.Concat(ref[1:]))
		}
	}
	return 1 + s.costs.ref(s.module.Package.Path.Extend(ref))
}

func (s *typeScope) variable(v ast.Var, values []*ast.Term) int {
	if cost, ok := s.known[v]; ok {
		return cost
	}
	s.known[v] = 1
	cost := 1
	for _, value := range values {
		if value != nil {
			cost = bounded(cost + s.term(value))
		}
	}
	s.known[v] = cost
	return cost
}
