package load

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// MaxMatrices bounds the cases that the matrices of a document stand for, in bytes:
// those of their texts and nodeBytes for each part.
const MaxMatrices = 16 << 20

// nodeBytes is what a part of a case counts, apart from its text.
const nodeBytes = 64

// rows writes out the rows of matrices.
type rows struct {
	problems *document.Problems
	// left is how many bytes may still be written out.
	left int
}

// withRows returns a test with one case for each row of the matrices of its cases.
func withRows(test *document.Node, problems *document.Problems) *document.Node {
	spec, r := test.Get("spec"), rows{problems: problems, left: MaxMatrices}
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
		unfilled(c, matrix.Items(), problems)
		for _, row := range matrix.Items() {
			cases = append(cases, r.of(c, row))
			if r.left < 0 {
				problems.Hintf(matrix.Pos, "fewer rows or shorter values; what all cases share belongs into spec.objects", "the cases that this matrix stands for have more than %d MiB", MaxMatrices>>20)
				return test
			}
		}
	}
	if !found {
		return test
	}
	list := *spec.Get("cases")
	list.Values = cases
	return test.With("spec", spec.With("cases", &list))
}

// of returns a case with the values of a row in place of their names.
func (r *rows) of(c, row *document.Node) *document.Node {
	if row.Kind != document.Map {
		r.problems.Hintf(row.Pos, "{replicas: 1}", "a row of a matrix is a mapping of names to values")
	}
	fill, said := r.valuesOf(row)
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
		out.Keys, out.Values = append(out.Keys, k), append(out.Values, fill.node(v))
	}
	return &out
}

// filling puts the values of a row in place of their names.
type filling struct {
	rows   *rows
	values map[string]*document.Node
	// sizes are what the values count.
	sizes map[string]int
	texts *strings.Replacer
	// longest is the length of the longest text of a value.
	longest int
}

// valuesOf returns the values of a row by what stands for them, and a text about the row.
func (r *rows) valuesOf(row *document.Node) (f *filling, said string) {
	f = &filling{rows: r, values: map[string]*document.Node{}, sizes: map[string]int{}}
	var texts, pairs []string
	for i, k := range row.Keys {
		name, v := "$("+k.Text+")", row.Values[i]
		f.values[name], f.sizes[name] = v, sizeOf(v)
		f.longest = max(f.longest, len(v.Text))
		pairs = append(pairs, name, v.Text)
		if v.Kind != document.Map && v.Kind != document.List {
			texts = append(texts, k.Text+"="+v.Text)
		}
	}
	f.texts = strings.NewReplacer(pairs...)
	return f, strings.Join(texts, ", ")
}

// sizeOf returns what a node counts, with all that is in it.
func sizeOf(n *document.Node) int {
	size := nodeBytes + len(n.Text)
	for i, v := range n.Values {
		if n.Kind == document.Map {
			size += sizeOf(n.Keys[i])
		}
		size += sizeOf(v)
	}
	return size
}

// node returns a part of a case with the values of a row: a scalar that is a name
// becomes the value itself, a name inside a text the text of the value.
func (f *filling) node(n *document.Node) *document.Node {
	if v := f.values[n.Text]; v != nil {
		f.rows.left -= f.sizes[n.Text]
		return v
	}
	out := *n
	out.Text = f.text(n.Text)
	out.Keys, out.Values = nil, nil
	for i, v := range n.Values {
		if f.rows.left < 0 {
			break
		}
		if n.Kind == document.Map {
			out.Keys = append(out.Keys, f.node(n.Keys[i]))
		}
		out.Values = append(out.Values, f.node(v))
	}
	return &out
}

// text returns a text with the texts of the values. One that would become too long is not
// made.
func (f *filling) text(s string) string {
	names := strings.Count(s, "$(")
	if names > 0 && names*f.longest > f.rows.left && f.length(s) > f.rows.left {
		f.rows.left = -1
		return s
	}
	if names > 0 {
		s = f.texts.Replace(s)
	}
	f.rows.left -= nodeBytes + len(s)
	return s
}

// length returns at most how long a text becomes.
func (f *filling) length(s string) int {
	n := len(s)
	for name, v := range f.values {
		n += strings.Count(s, name) * len(v.Text)
	}
	return n
}
