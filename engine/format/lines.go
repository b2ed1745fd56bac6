package format

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/edict-dev/edict/engine/document"
)

// step is how far a level is indented.
const step = 2

// line is a line of a document.
type line struct {
	text string
	// placed says that a field or an item begins on the line, at the column have,
	// which is to be want.
	placed     bool
	have, want int
	// inText says that the line is part of a block of text.
	inText bool
}

// lines are those of a document.
type lines []line

func newLines(text string) lines {
	parts := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	out := make(lines, len(parts))
	for i, p := range parts {
		out[i].text = p
	}
	return out
}

// String returns the document.
func (ls lines) String() string {
	parts := make([]string, len(ls))
	for i, l := range ls {
		parts[i] = l.text
	}
	return strings.Join(parts, "\n")
}

// indent indents every field and item as deep as it is nested, and moves with it
// what belongs to it.
func (ls lines) indent(root *yaml.Node) {
	ls.value(root, 0, -1)
	for i, delta := 0, 0; i < len(ls); i++ {
		switch {
		case ls[i].placed:
			delta = ls[i].want - ls[i].have
			ls[i].text = shifted(ls[i].text, delta)
		case ls[i].inText || !isComment(ls[i].text):
			ls[i].text = shifted(ls[i].text, delta)
		default:
			ls[i].text = shifted(ls[i].text, ls.ofComment(i, delta))
		}
	}
}

// ofComment returns how far a comment moves: with the field below it, if it stands at
// its column, else with the field above.
func (ls lines) ofComment(at, above int) int {
	for _, l := range ls[at+1:] {
		if l.placed {
			if document.Indentation(ls[at].text) == l.have {
				return l.want - l.have
			}
			return above
		}
	}
	return above
}

// value places what is nested in a value; outer is the column of the field or item
// that it belongs to.
func (ls lines) value(n *yaml.Node, want, outer int) {
	switch {
	case isBlock(n, yaml.MappingNode):
		for i := 0; i+1 < len(n.Content); i += 2 {
			ls.place(n.Content[i].Line, n.Content[i].Column-1, want)
			ls.value(n.Content[i+1], want+step, n.Content[i].Column-1)
		}
	case isBlock(n, yaml.SequenceNode):
		for _, item := range n.Content {
			ls.item(item, n.Column-1, want)
		}
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		for i := n.Line; i < len(ls) && (isBlank(ls[i].text) || document.Indentation(ls[i].text) > outer); i++ {
			ls[i].inText = true
		}
	}
}

// item places an item of a list whose dash is at a column.
func (ls lines) item(n *yaml.Node, dash, want int) {
	at := n.Line
	for at > 1 && (isComment(ls[at-1].text) || document.Indentation(ls[at-1].text) != dash || !strings.HasPrefix(ls[at-1].text[dash:], "-")) {
		at--
	}
	if at == n.Line && (isBlock(n, yaml.MappingNode) || isBlock(n, yaml.SequenceNode)) {
		ls.close(at, dash, n)
	}
	ls.place(at, dash, want)
	ls.value(n, want+step, dash)
}

// close leaves one space between a dash and a mapping behind it. The other lines of
// the mapping are placed by themselves.
func (ls lines) close(at, dash int, n *yaml.Node) {
	text := ls[at-1].text
	if n.Column-1 > dash+step && len(text) >= n.Column-1 {
		ls[at-1].text = text[:dash+1] + " " + text[n.Column-1:]
	}
}

// place says at which column what begins on a line is to begin.
func (ls lines) place(number, have, want int) {
	if l := &ls[number-1]; !l.placed {
		l.placed, l.have, l.want = true, have, want
	}
}

func shifted(text string, by int) string {
	if isBlank(text) || by == 0 {
		return text
	}
	if by > 0 {
		return strings.Repeat(" ", by) + text
	}
	return text[min(-by, document.Indentation(text)):]
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

func isComment(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "#") }
