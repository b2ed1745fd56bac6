package lsp

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// expressionFields hold an expression without delimiters.
var expressionFields = []string{
	"when", "forEach", "where", "get", "keyBy", "groupBy", "orderBy", "expression", "in", "keep", "points", "prefer", "claim", "of", "ready", "perCentOf", "namespace",
}

// part is an expression in the value of a scalar.
type part struct {
	text string
	// start is its first character in the value.
	start int
}

// expressionsOf returns the expressions in a scalar: the whole of it, or those
// between ${ and }.
func expressionsOf(n *document.Node, whole bool) []part {
	if whole && !strings.Contains(n.Text, "${") {
		return []part{{n.Text, 0}}
	}
	return placeholders([]rune(n.Text))
}

// placeholders returns what stands between ${ and }, also the last when it is not
// closed.
func placeholders(text []rune) (out []part) {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '$' || text[i+1] != '{' || i > 0 && text[i-1] == '$' {
			continue
		}
		end := cel.Closing(text, i+2)
		if end < 0 {
			end = len(text)
		}
		out = append(out, part{string(text[i+2 : end]), i + 2})
		i = end
	}
	return out
}

// isExpression reports whether a scalar is the value of a field that holds an
// expression, or an item of one that holds several.
func isExpression(root, n *document.Node) bool {
	found := false
	visitFields(root, "", func(field string, v *document.Node) {
		found = found || v.Pos == n.Pos && slices.Contains(expressionFields, field)
	})
	return found
}

// visitFields visits every value with the field that it belongs to; an item of a list
// belongs to that of the list, a key to none.
func visitFields(n *document.Node, field string, visit func(field string, n *document.Node)) {
	if n == nil {
		return
	}
	visit(field, n)
	for i, v := range n.Values {
		name := field
		if n.Kind == document.Map {
			name = n.Keys[i].Text
			visit("", n.Keys[i])
		}
		visitFields(v, name, visit)
	}
}
