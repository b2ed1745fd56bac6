package policytest

import (
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// maxTried bounds the texts that are tried for a value.
const maxTried = 1000

// valuesOf returns the values of a row of a matrix, by what stands for them in a case.
func valuesOf(row *document.Node) map[string]*document.Node {
	out := map[string]*document.Node{}
	for i, k := range row.Keys {
		out["$("+k.Text+")"] = row.Values[i]
	}
	return out
}

// named returns what is right for every row if names of the matrix are written in it: one
// name, or a text with names where the rows differ.
func (a *agreement) named(rows []pair) (any, bool) {
	for _, name := range slices.Sorted(maps.Keys(a.values[0])) {
		if a.each(rows, func(values map[string]*document.Node, wanted any) bool {
			return values[name] != nil && sameItem(values[name].Plain(), wanted)
		}) {
			return name, true
		}
	}
	first, ok := rows[0].wanted.(string)
	if !ok || strings.Contains(first, "$(") {
		return nil, false
	}
	return a.text(first, rows)
}

// text looks for a text with names in it. It begins with what the first row wants, and
// writes a name in the place of its value there, until the text is right for all rows.
func (a *agreement) text(first string, rows []pair) (any, bool) {
	tried := []string{first}
	for i := 0; i < len(tried) && len(tried) < maxTried; i++ {
		for _, next := range withName(tried[i], a.values[0]) {
			if a.each(rows, func(values map[string]*document.Node, wanted any) bool { return filled(next, values) == wanted }) {
				return next, true
			}
			if !slices.Contains(tried, next) {
				tried = append(tried, next)
			}
		}
	}
	return nil, false
}

// withName returns the texts with one name more in the place of its value.
func withName(text string, values map[string]*document.Node) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		if v.Text == "" || v.Kind == document.Map || v.Kind == document.List {
			continue
		}
		for at := 0; at < len(text); at++ {
			if strings.HasPrefix(text[at:], "$(") { // names are left as they are
				at += max(strings.Index(text[at:], ")"), 0)
			} else if rest, ok := strings.CutPrefix(text[at:], v.Text); ok {
				out = append(out, text[:at]+name+rest)
			}
		}
	}
	return out
}

// filled returns a text with the values of a row, as a case is read.
func filled(text string, values map[string]*document.Node) any {
	for name, v := range values {
		text = strings.ReplaceAll(text, name, v.Text)
	}
	return text
}

// each reports whether something is so in all rows.
func (a *agreement) each(rows []pair, is func(values map[string]*document.Node, wanted any) bool) bool {
	for i, p := range rows {
		if !is(a.values[i], p.wanted) {
			return false
		}
	}
	return true
}
