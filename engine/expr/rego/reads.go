package rego

import "github.com/open-policy-agent/opa/v1/ast"

// reads returns every read of the input by a rule.
func (p *program) reads(rule *ast.Rule) (out []readOutline) {
	walkReads(rule, func(ref ast.Ref, more []string) {
		if ref.HasPrefix(ast.InputRootRef) {
			out = append(out, readOutline{Path: append(names(ref[1:]), more...), At: p.sources.at(ref[0].Location)})
		}
	})
	return out
}

// walkReads calls add for each reference of a rule; object.get with names that
// are written out is as good as a reference.
func walkReads(rule *ast.Rule, add func(ref ast.Ref, more []string)) {
	got, refs := map[*ast.Term]bool{}, localRefs(rule)
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		if from, keys := objectGet(e, refs); from != nil {
			got[from] = true
			add(from.Value.(ast.Ref), keys)
		}
		return false
	})
	ast.NewGenericVisitor(func(x any) bool {
		if t, ok := x.(*ast.Term); ok && !got[t] {
			if ref, ok := t.Value.(ast.Ref); ok {
				add(ref, nil)
			}
		}
		_, with := x.(*ast.With)
		return with
	}).Walk(rule)
}

// localRefs returns the references that variables stand for: the compiler takes
// them out of calls.
func localRefs(rule *ast.Rule) map[ast.Var]*ast.Term {
	refs := map[ast.Var]*ast.Term{}
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		if e.IsEquality() && len(e.Operands()) == 2 {
			name, ok := e.Operand(0).Value.(ast.Var)
			if _, ref := e.Operand(1).Value.(ast.Ref); ok && ref {
				refs[name] = e.Operand(1)
			}
		}
		return false
	})
	return refs
}

// objectGet returns what a call of object.get reads, and the constant names.
func objectGet(e *ast.Expr, refs map[ast.Var]*ast.Term) (from *ast.Term, keys []string) {
	if !e.IsCall() || len(e.Operands()) < 3 || e.Operator().String() != ast.ObjectGet.Name {
		return nil, nil
	}
	from = e.Operand(0)
	if name, ok := from.Value.(ast.Var); ok && refs[name] != nil {
		from = refs[name]
	}
	if _, ok := from.Value.(ast.Ref); !ok {
		return nil, nil
	}
	switch key := e.Operand(1).Value.(type) {
	case ast.String:
		return from, []string{string(key)}
	case *ast.Array:
		var path []*ast.Term
		key.Foreach(func(t *ast.Term) { path = append(path, t) })
		return from, names(path)
	}
	return nil, nil
}

// names returns the constant strings that a path begins with.
func names(path []*ast.Term) []string {
	var out []string
	for _, t := range path {
		s, ok := t.Value.(ast.String)
		if !ok {
			break
		}
		out = append(out, string(s))
	}
	return out
}
