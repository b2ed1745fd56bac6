package policytest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/edict-dev/edict/engine/document"
)

// outcome is what came of an expectation: what it should be to hold.
type outcome struct {
	replacement
	met bool
}

// matrix is a case with a matrix, and what came of its rows.
type matrix struct {
	node *document.Node
	rows []row
}

// row is what came of one row; name is "" for one that was not run.
type row struct {
	at       document.Position
	values   map[string]*document.Node
	name     string
	outcomes []outcome
}

// matricesOf returns the cases with a matrix in the documents of a file.
func matricesOf(nodes []*document.Node) (out []*matrix) {
	for _, n := range nodes {
		for _, c := range n.Get("spec").Get("cases").Items() {
			rows := c.Get("matrix").Items()
			if len(rows) == 0 {
				continue
			}
			m := &matrix{node: c}
			for _, r := range rows {
				m.rows = append(m.rows, row{at: r.Pos, values: valuesOf(r)})
			}
			out = append(out, m)
		}
	}
	return out
}

// take takes what came of a case if it is a row of the matrix.
func (m *matrix) take(c *Case) bool {
	for i := range m.rows {
		if r := &m.rows[i]; samePlace(r.at, c.At) {
			r.name, r.outcomes = c.Name, c.outcomes
			return true
		}
	}
	return false
}

func samePlace(a, b document.Position) bool { return a.Line == b.Line && a.Column == b.Column }

// replacements returns what the expectations of the case should be. A value of a row is
// that of the row alone; in all others the rows have to agree.
func (m *matrix) replacements() (out []replacement, err error) {
	var shared []document.Position
	for _, r := range m.rows {
		for _, o := range r.outcomes {
			switch {
			case o.met:
			case find(m.node.Get("matrix"), o.At) != nil:
				out = append(out, o.replacement)
			case !slices.ContainsFunc(shared, func(at document.Position) bool { return samePlace(at, o.At) }):
				shared = append(shared, o.At)
			}
		}
	}
	for _, at := range shared {
		r, wrong := m.shared(at)
		if err = errors.Join(err, wrong); wrong == nil {
			out = append(out, r)
		}
	}
	return out, err
}

// shared returns the value for all rows of the list or mapping at a place.
func (m *matrix) shared(at document.Position) (replacement, error) {
	written, a := find(m.node, at), agreement{}
	for _, r := range m.rows {
		i := slices.IndexFunc(r.outcomes, func(o outcome) bool { return samePlace(o.At, at) })
		if i < 0 || written == nil {
			return replacement{}, fmt.Errorf("%s: not all rows of the matrix have come this far: change it by hand", at)
		}
		a.values = append(a.values, r.values)
		a.rows, a.names = append(a.rows, pair{r.outcomes[i].Old, r.outcomes[i].New}), append(a.names, r.name)
	}
	value, ok := a.value(written.Plain(), a.rows)
	if !ok {
		return replacement{}, fmt.Errorf("%s: the rows of the matrix do not agree, and no name of it stands for the difference: %s; add a name with these values to the rows and write $(NAME) in their place, or make a case of its own of a row", at, a.differ)
	}
	return replacement{At: at, Old: written.Plain(), New: value}, nil
}

// find returns the list or mapping that begins at a place.
func find(root *document.Node, at document.Position) (found *document.Node) {
	root.Walk(func(_ string, n *document.Node) {
		if found == nil && (n.Kind == document.List || n.Kind == document.Map) && samePlace(n.Pos, at) {
			found = n
		}
	})
	return found
}
