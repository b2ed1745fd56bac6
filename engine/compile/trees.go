package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// trees are the programs of a policy by the scalar that they are written in.
type trees map[*document.Node][]*cel.Program

func (t trees) add(p *cel.Program) {
	at := p.Text()
	if !slices.ContainsFunc(t[at.Node], func(have *cel.Program) bool { return have.Text().Offset == at.Offset }) {
		t[at.Node] = append(t[at.Node], p)
	}
}

// text writes a part of a document without its layout, and with syntax trees in
// place of the expressions.
func (t trees) text(n *document.Node) string {
	if n == nil {
		return ""
	}
	var out []string
	for i, v := range n.Values {
		field := t.text(v)
		if n.Kind == document.Map {
			field = t.text(n.Keys[i]) + ": " + field
		}
		out = append(out, field)
	}
	switch n.Kind {
	case document.Map:
		slices.Sort(out)
		return "{" + strings.Join(out, ", ") + "}"
	case document.List:
		return "[" + strings.Join(out, ", ") + "]"
	default:
		return fmt.Sprintf("%s %q", n.Kind, t.scalar(n))
	}
}

func (t trees) scalar(n *document.Node) string {
	programs := slices.SortedFunc(slices.Values(t[n]), func(a, b *cel.Program) int { return a.Text().Offset - b.Text().Offset })
	text, out, from := []rune(n.Text), "", 0
	for _, p := range programs {
		at, size := p.Text().Offset, len([]rune(p.Source()))
		if at < from || at+size > len(text) || string(text[at:at+size]) != p.Source() {
			return n.Text // the scalar is escaped: its text says as much
		}
		out += string(text[from:at]) + analyze.Tree(p)
		from = at + size
	}
	return out + string(text[from:])
}
