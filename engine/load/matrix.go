package load

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// withRows returns a test with one case for each row of the matrices of its cases.
func withRows(test *document.Node, problems *document.Problems) *document.Node {
	spec := test.Get("spec")
	var cases []*document.Node
	found := false
	for _, c := range spec.Get("cases").Items() {
		matrix := c.Get("matrix")
		if matrix == nil {
			cases = append(cases, c)
			continue
		}
		found = true
		if len(matrix.Items()) == 0 {
			problems.Hintf(matrix.Pos, "matrix: [{replicas: 1}, {replicas: 3}]", "a matrix is a list of rows, each a mapping of names to values")
		}
		for _, row := range matrix.Items() {
			cases = append(cases, rowOf(c, row, problems))
		}
	}
	if !found {
		return test
	}
	list := *spec.Get("cases")
	list.Values = cases
	return test.With("spec", spec.With("cases", &list))
}

// rowOf returns a case with the values of a row in place of their names.
func rowOf(c, row *document.Node, problems *document.Problems) *document.Node {
	if row.Kind != document.Map {
		problems.Hintf(row.Pos, "{replicas: 1}", "a row of a matrix is a mapping of names to values")
	}
	values, said := valuesOf(row)
	out := *c
	out.Keys, out.Values, out.Pos = nil, nil, row.Pos
	for i, k := range c.Keys {
		v := c.Values[i]
		if k.Text == "matrix" {
			continue
		}
		if k.Text == "name" && !strings.Contains(v.Text, "$(") {
			named := *v
			named.Text = fmt.Sprintf("%s [%s]", v.Text, said)
			v = &named
		}
		out.Keys, out.Values = append(out.Keys, k), append(out.Values, filled(v, values))
	}
	return &out
}

// valuesOf returns the values of a row by what stands for them, and a text about the row.
func valuesOf(row *document.Node) (values map[string]*document.Node, said string) {
	values = map[string]*document.Node{}
	var texts []string
	for i, k := range row.Keys {
		values["$("+k.Text+")"] = row.Values[i]
		if v := row.Values[i]; v.Kind != document.Map && v.Kind != document.List {
			texts = append(texts, k.Text+"="+v.Text)
		}
	}
	return values, strings.Join(texts, ", ")
}

// filled returns a part of a case with the values of a row: a scalar that is a name
// becomes the value itself, a name inside a text the text of the value.
func filled(n *document.Node, values map[string]*document.Node) *document.Node {
	if v := values[n.Text]; v != nil {
		return v
	}
	out := *n
	for name, v := range values {
		out.Text = strings.ReplaceAll(out.Text, name, v.Text)
	}
	out.Keys, out.Values = nil, nil
	for i, v := range n.Values {
		if n.Kind == document.Map {
			out.Keys = append(out.Keys, filled(n.Keys[i], values))
		}
		out.Values = append(out.Values, filled(v, values))
	}
	return &out
}
