package format

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// orders are the sections of a document, by kind, as they are read.
var orders = map[string][]string{
	v1alpha1.KindPolicy:     {"mode", "for", "params", "inputs", "variables", "limits", "finalizer", "children", "rules", "metrics"},
	v1alpha1.KindPolicyTest: {"policies", "only", "now", "params", "answers", "remembered", "world", "objects", "cases"},
}

var header = []string{"apiVersion", "kind", "metadata", "spec"}

// sorted puts the sections of a document into their order.
func sorted(text string, root *yaml.Node) string {
	lines := newLines(text)
	lines.indent(root) // finds the blocks of text
	_, kind := field(root, "kind")
	at, spec := field(root, "spec")
	if kind != nil && spec != nil && isBlock(spec, yaml.MappingNode) && spec.Line > at.Line {
		end := len(lines)
		for i := 0; i < len(root.Content); i += 2 {
			if key := root.Content[i]; key.Line > at.Line {
				end = min(end, lines.begin(key.Line-1))
			}
		}
		lines.sort(spec, at.Line, end, orders[kind.Value])
	}
	lines.sort(root, root.Content[0].Line-1, len(lines), header)
	return lines.String()
}

// section are the lines of a field, with the comments above it.
type section struct {
	rank  int
	lines lines
}

// sort sorts the fields of a mapping, which are on the lines from one to another.
func (ls lines) sort(m *yaml.Node, from, to int, order []string) {
	var sections []section
	first := from
	for i := 0; i < len(m.Content); i += 2 {
		if n := len(sections); n > 0 {
			at := ls.begin(m.Content[i].Line - 1)
			sections[n-1].lines = ls[from:at]
			from = at
		}
		sections = append(sections, section{rank: rank(m.Content[i].Value, order)})
	}
	sections[len(sections)-1].lines = ls[from:to]
	byRank := func(a, b section) int { return cmp.Compare(a.rank, b.rank) }
	if slices.IsSortedFunc(sections, byRank) {
		return
	}
	last, rest := sections[len(sections)-1].lines.ending(m.Column - 1)
	sections[len(sections)-1].lines = last
	copy(ls[first:to], slices.Concat(joined(sections, byRank), rest))
}

// joined returns the lines of sections in an order. Empty lines between them stay
// where they are.
func joined(sections []section, order func(a, b section) int) (all lines) {
	var gaps []lines
	for i := range sections {
		gap, rest := sections[i].lines.gap()
		gaps, sections[i].lines = append(gaps, gap), rest
	}
	slices.SortStableFunc(sections, order)
	for i, s := range sections {
		all = slices.Concat(all, gaps[i], s.lines)
	}
	return all
}

// ending parts the empty lines and the comments at the end, which belong to no field of a
// mapping at a column, from the others.
func (ls lines) ending(column int) (rest, ending lines) {
	at := len(ls)
	for at > 0 && !ls[at-1].inText && (isBlank(ls[at-1].text) || isComment(ls[at-1].text) && document.Indentation(ls[at-1].text) <= column) {
		at--
	}
	return ls[:at], ls[at:]
}

// gap parts the empty lines at the beginning from the others.
func (ls lines) gap() (gap, rest lines) {
	empty := 0
	for empty < len(ls) && isBlank(ls[empty].text) {
		empty++
	}
	return ls[:empty], ls[empty:]
}

// rank is the place of a field; one that is unknown comes last.
func rank(name string, order []string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// begin returns the first of the comments and empty lines above a field; the index
// of the field's line when there are none.
func (ls lines) begin(at int) int {
	column := ls[at].have
	for at > 0 && !ls[at-1].inText && (isBlank(ls[at-1].text) || isComment(ls[at-1].text) && document.Indentation(ls[at-1].text) == column) {
		at--
	}
	return at
}

// tidy removes white space at the end of lines and all but one of several empty
// lines, except in blocks of text.
func tidy(text string) string {
	root := parse(text)
	if root == nil {
		return text
	}
	ls := newLines(text)
	ls.value(root, 0, -1)
	var out []string
	for _, l := range ls {
		if !l.inText {
			l.text = strings.TrimRight(l.text, " \t\r")
		}
		if l.text == "" && !l.inText && len(out) > 0 && out[len(out)-1] == "" {
			continue
		}
		out = append(out, l.text)
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}
