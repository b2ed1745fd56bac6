package lsp

import (
	"slices"

	"github.com/edict-dev/edict/engine/document"
)

// site is a scalar of a document, with the values that it is in, the outermost first.
type site struct {
	node   *document.Node
	field  string
	around []*document.Node
}

// sites returns the scalars of a document by their places.
func sites(root *document.Node) map[document.Position]site {
	out := map[document.Position]site{}
	var visit func(n *document.Node, field string, around []*document.Node)
	visit = func(n *document.Node, field string, around []*document.Node) {
		if n == nil {
			return
		}
		if n.Kind != document.Map && n.Kind != document.List {
			out[n.Pos] = site{n, field, around}
			return
		}
		around = append(slices.Clone(around), n)
		for i, v := range n.Values {
			name := field
			if n.Kind == document.Map {
				name = n.Keys[i].Text
				visit(n.Keys[i], "", around)
			}
			visit(v, name, around)
		}
	}
	visit(root, "", nil)
	return out
}

// scopeOf returns the value whose expressions may use the local name that a scalar
// declares, and the one expression in it that may not.
func scopeOf(s site) (scope, except *document.Node) {
	last := len(s.around) - 1
	owner := s.around[last]
	switch {
	case s.field != "as" && last >= 2: // name of an item of variables
		owner = s.around[last-2]
	case last >= 2 && s.around[last-2].Get("candidates") == s.around[last-1]:
		return s.around[last-2], owner.Get("in")
	}
	return owner, owner.Get("forEach")
}

// owner returns the declaration that a local name stands for in an expression: the
// innermost one; nil when there is none.
func (a *analysis) owner(name string, s site) (out *declaration) {
	for _, d := range a.locals(s) {
		if d.full == name && s.node != d.except && slices.Contains(s.around, d.scope) && (out == nil || slices.Index(s.around, out.scope) <= slices.Index(s.around, d.scope)) {
			out = &d
		}
	}
	return out
}

// locals returns the local names of the policy that a scalar is in.
func (a *analysis) locals(s site) []declaration {
	if u := a.unitAt(s.node.Pos); u != nil {
		return locals(u.Document)
	}
	return nil
}

// siteAt returns the scalar at a place, or the last one before it.
func (a *analysis) siteAt(p document.Position) (out site, found bool) {
	for at, s := range sites(a.root(p)) {
		if compare(at, p) <= 0 && (!found || compare(out.node.Pos, at) < 0) {
			out, found = s, true
		}
	}
	return out, found
}
