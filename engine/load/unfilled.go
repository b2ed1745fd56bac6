package load

import (
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// rowName is what stands for a value of a matrix. $$( is Kubernetes' way to write $(.
var rowName = regexp.MustCompile(`(?:^|[^$])\$\(([A-Za-z_][\w.-]*)\)`)

// unfilled reports names in a case that a row of its matrix does not have, and that were
// meant to be of the matrix. Kubernetes and shells write $(NAME) as well, so the others are
// left.
func unfilled(c *document.Node, rows []*document.Node, problems *document.Problems) {
	all := columnsOf(rows...)
	names := namesIn(c)
	unused(names, rows, problems)
	names = slices.DeleteFunc(names, func(n named) bool { return !n.meant(all) })
	for _, row := range rows {
		own := columnsOf(row)
		names = slices.DeleteFunc(names, func(n named) bool { // it is reported of one row only
			lacks := !slices.Contains(own, n.name)
			if lacks {
				missing(n, own, all, problems)
			}
			return lacks
		})
	}
}

// unused warns about columns of which nothing in a case reads the values.
func unused(names []named, rows []*document.Node, problems *document.Problems) {
	seen := map[string]bool{}
	for _, n := range names {
		seen[n.name] = true
	}
	for _, row := range rows {
		for _, k := range row.Keys {
			if !seen[k.Text] {
				seen[k.Text] = true // it is reported of one row only
				problems.Add(document.Problem{Position: k.Pos, Severity: document.Warning, Message: "nothing in the case uses $(" + k.Text + ")", Hint: "write it where its value belongs, or leave it out"})
			}
		}
	}
}

// named is a name of a matrix in a case.
type named struct {
	name, text string
	at         document.Position
}

// namesIn returns the names in a case, each where it is first written, but for those in
// the matrix itself.
func namesIn(c *document.Node) (out []named) {
	seen := map[string]bool{}
	note := func(text string, at document.Position) {
		for _, found := range rowName.FindAllStringSubmatch(text, -1) {
			if name := found[1]; !seen[name] {
				seen[name] = true
				out = append(out, named{name: name, text: text, at: at})
			}
		}
	}
	for i, k := range c.Keys {
		if k.Text == "matrix" {
			continue
		}
		c.Values[i].Walk(func(key string, n *document.Node) {
			note(key, n.Pos)
			note(n.Text, n.Pos)
		})
	}
	return out
}

func missing(n named, own, all []string, problems *document.Problems) {
	hint := didYouMean(n.name, own)
	if slices.Contains(all, n.name) {
		hint = "give the row a value of that name"
	}
	problems.Hintf(n.at, hint, "the row has no %s; it has %s", "$("+n.name+")", strings.Join(own, ", "))
}

// meant reports whether a name is one of a matrix: one of another row, almost one, or all
// of a text, unless it is written as the variables of a container are.
func (n named) meant(known []string) bool {
	_, found := slices.BinarySearch(known, n.name)
	return found || n.text == "$("+n.name+")" && n.name != strings.ToUpper(n.name) || didYouMean(n.name, known) != ""
}

// manyColumns is from how many names on none that is similar is looked for.
const manyColumns = 50

func didYouMean(name string, known []string) string {
	if len(known) > manyColumns {
		return ""
	}
	return document.DidYouMean(name, known)
}

// columnsOf returns the names of some rows, sorted, each once.
func columnsOf(rows ...*document.Node) (out []string) {
	for _, row := range rows {
		for _, k := range row.Keys {
			out = append(out, k.Text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
