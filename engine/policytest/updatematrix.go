package policytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/format"
)

// outcome is what came of an expectation: what it should be to hold.
type outcome struct {
	format.Replacement
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
				m.rows = append(m.rows, row{at: r.Pos})
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
func (m *matrix) replacements() (out []format.Replacement, err error) {
	var shared []document.Position
	for _, r := range m.rows {
		for _, o := range r.outcomes {
			switch {
			case o.met:
			case find(m.node.Get("matrix"), o.At) != nil:
				out = append(out, o.Replacement)
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
func (m *matrix) shared(at document.Position) (format.Replacement, error) {
	written, a := find(m.node, at), agreement{}
	for _, r := range m.rows {
		i := slices.IndexFunc(r.outcomes, func(o outcome) bool { return samePlace(o.At, at) })
		if i < 0 || written == nil {
			return format.Replacement{}, fmt.Errorf("%s: not all rows of the matrix have come this far: change it by hand", at)
		}
		a.rows, a.names = append(a.rows, pair{r.outcomes[i].Old, r.outcomes[i].New}), append(a.names, r.name)
	}
	value, ok := a.value(written.Plain(), a.rows)
	if !ok {
		return format.Replacement{}, fmt.Errorf("%s: the rows of the matrix do not agree, change it by hand: %s", at, a.differ)
	}
	return format.Replacement{At: at, Old: written.Plain(), New: value}, nil
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

// pair is what a row has asked for, and what it should ask for.
type pair struct{ old, wanted any }

// agreement finds a value that is right for all rows.
type agreement struct {
	names []string
	rows  []pair
	// differ says what the rows want where they do not agree.
	differ string
}

// value returns what is to be written in the place of what is written, which may have
// names of the matrix in it: it stays where it is right for every row.
func (a *agreement) value(written any, rows []pair) (any, bool) {
	if all(rows, func(p pair) bool { return sameItem(p.old, p.wanted) }) {
		return written, true
	}
	if m, ok := a.mapping(written, rows); ok || a.differ != "" {
		return m, ok
	}
	if l, ok := a.list(written, rows); ok || a.differ != "" {
		return l, ok
	}
	if all(rows, func(p pair) bool { return sameItem(p.wanted, rows[0].wanted) }) {
		return rows[0].wanted, true
	}
	a.differ = a.wants(rows)
	return nil, false
}

// mapping agrees on the fields of mappings with the same names.
func (a *agreement) mapping(written any, rows []pair) (any, bool) {
	w, ok := written.(map[string]any)
	if !ok || slices.ContainsFunc(slices.Collect(maps.Keys(w)), func(k string) bool { return strings.Contains(k, "$(") }) {
		return nil, false
	}
	first, ok := rows[0].wanted.(map[string]any)
	alike := func(p pair) bool {
		old, was := p.old.(map[string]any)
		wanted, is := p.wanted.(map[string]any)
		return was && is && len(old) == len(w) && maps.EqualFunc(wanted, first, func(any, any) bool { return true })
	}
	if !ok || !all(rows, alike) {
		return nil, false
	}
	out := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(first)) {
		if out[k], ok = a.value(w[k], each(rows, func(v any) any { return v.(map[string]any)[k] })); !ok {
			return nil, false
		}
	}
	return out, true
}

// list agrees on the items of lists of one length.
func (a *agreement) list(written any, rows []pair) (any, bool) {
	w, ok := written.([]any)
	first, is := rows[0].wanted.([]any)
	alike := func(p pair) bool {
		old, was := p.old.([]any)
		wanted, is := p.wanted.([]any)
		return was && is && len(old) == len(w) && len(wanted) == len(first)
	}
	if !ok || !is || !all(rows, alike) {
		return nil, false
	}
	out := make([]any, len(first))
	for i := range first {
		if out[i], ok = a.value(item(w, i), each(rows, func(v any) any { return item(v.([]any), i) })); !ok {
			return nil, false
		}
	}
	return out, true
}

func item(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func each(rows []pair, get func(any) any) []pair {
	out := make([]pair, len(rows))
	for i, p := range rows {
		out[i] = pair{get(p.old), get(p.wanted)}
	}
	return out
}

func all(rows []pair, is func(pair) bool) bool {
	return !slices.ContainsFunc(rows, func(p pair) bool { return !is(p) })
}

// wants says what each row wants.
func (a *agreement) wants(rows []pair) string {
	out := make([]string, len(rows))
	for i, p := range rows {
		text, err := json.Marshal(p.wanted)
		if err != nil {
			text = []byte(err.Error())
		}
		out[i] = fmt.Sprintf("%q has %s", a.names[i], text)
	}
	return strings.Join(out, ", ")
}
