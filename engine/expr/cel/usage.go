package cel

import (
	"slices"

	"github.com/google/cel-go/common/ast"
)

// usage says what an expression reads: the item, the key's side, and loop
// variables from outside of it.
type usage struct {
	item, key bool
	free      map[string]bool
}

func (j *joiner) uses(e ast.Expr) usage {
	u := usage{free: map[string]bool{}}
	j.collect(e, nil, &u)
	return u
}

func (j *joiner) collect(e ast.Expr, bound []string, u *usage) {
	if reference, ok := j.ast.ReferenceMap()[e.ID()]; ok && reference.Name != "" && e.Kind() != ast.IdentKind {
		if reference.Value == nil {
			u.see(reference.Name, bound)
		}
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		u.see(e.AsIdent(), bound)
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		j.collect(c.IterRange(), bound, u)
		j.collect(c.AccuInit(), bound, u)
		inner := append(append([]string(nil), bound...), c.IterVar(), c.IterVar2(), c.AccuVar())
		j.collect(c.LoopStep(), inner, u)
		j.collect(c.LoopCondition(), inner, u)
		j.collect(c.Result(), inner, u)
	default:
		for _, child := range children(e) {
			j.collect(child, bound, u)
		}
	}
}

func children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		call := e.AsCall()
		if call.IsMemberFunction() {
			return append([]ast.Expr{call.Target()}, call.Args()...)
		}
		return call.Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var out []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			out = append(out, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return out
	default:
		return nil
	}
}

func (u *usage) see(name string, bound []string) {
	switch {
	case slices.Contains(bound, name):
	case name == itemName:
		u.item = true
	case isGlobal(name):
		u.key = u.key || !isParam(name)
	default:
		u.free[name] = true
	}
}

// isGlobal says whether a name is one of the policy's, not a loop variable.
func isGlobal(name string) bool {
	for _, prefix := range []string{"object", "key.", "params.", "inputs.", "variables.", callVariable, "initial", "leaving"} {
		if name == prefix || len(name) > len(prefix) && name[:len(prefix)] == prefix && prefix[len(prefix)-1] == '.' {
			return true
		}
	}
	return false
}

func isParam(name string) bool { return len(name) > 7 && name[:7] == "params." }
