package cel

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// inText checks the type of an expression that stands in a longer text.
func inText(p *Program, problems *document.Problems) {
	t := p.Type()
	switch inner := Unwrap(t); {
	case IsList(inner):
		problems.Reportf(document.ListInText, p.Pos(), "x.map(e, string(e)).join(\", \")", "a list cannot be written inside a text")
	case IsMap(inner) || IsObject(inner) && !slices.Contains(texts, inner.TypeName()):
		problems.Reportf(document.ListInText, p.Pos(), "name one of its fields, or json.encode(x)", "an object cannot be written inside a text")
	case IsOptional(t):
		problems.Reportf(document.OptionalInText, p.Pos(), "x.orValue(\"\") gives one", "inside a text this fails where it has no value")
	}
}

// texts are the types of libraries whose values are written as they are stored.
var texts = []string{"kubernetes.Quantity", "kubernetes.Semver", "kubernetes.URL"}

// code is a text that is a name of the policy and nothing else.
var code = regexp.MustCompile(`^(object|key|params|inputs|variables)(\.\??[A-Za-z_]\w*)+$`)

// looksLikeCode warns about an expression that is written where a template is
// meant, and so stays the text that it is.
func looksLikeCode(n *document.Node, problems *document.Problems) {
	if !n.Quoted && code.MatchString(n.Text) {
		problems.Add(document.Problem{Position: n.Pos, Severity: document.Warning, Code: document.NameAsText, Source: n.SourceLine(n.Pos.Line),
			Message: "this is the text \"" + n.Text + "\", not its value", Hint: "${" + n.Text + "} gives the value; in quotes it is meant as a text"})
	}
}

// piece is a stretch of a template text; offset counts characters of the node.
type piece struct {
	text   string
	code   bool
	offset int
	node   *document.Node
}

// piecesOf splits a text, and those that it is put together from.
func piecesOf(n *document.Node) (out []piece, ok bool) {
	for _, part := range n.Parts() {
		pieces, ok := split(part.Text)
		if !ok {
			return nil, false
		}
		for i := range pieces {
			pieces[i].node = part
		}
		out = append(out, pieces...)
	}
	return out, true
}

// split finds the ${...} of a text. Braces and quotes inside an expression are
// followed, so that a map literal or a "}" in a string does not end it.
func split(text string) (out []piece, ok bool) {
	runes := []rune(text)
	var literal strings.Builder
	for i := 0; i < len(runes); {
		switch {
		case hasAt(runes, i, "$${"):
			literal.WriteString("${")
			i += 3
		case hasAt(runes, i, "${"):
			end := Closing(runes, i+2)
			if end < 0 {
				return nil, false
			}
			if literal.Len() > 0 {
				out = append(out, piece{text: literal.String()})
				literal.Reset()
			}
			out = append(out, piece{text: string(runes[i+2 : end]), code: true, offset: i + 2})
			i = end + 1
		default:
			literal.WriteRune(runes[i])
			i++
		}
	}
	if literal.Len() > 0 || len(out) == 0 {
		out = append(out, piece{text: literal.String()})
	}
	return out, true
}

func hasAt(runes []rune, i int, want string) bool {
	return i+len(want) <= len(runes) && string(runes[i:i+len(want)]) == want
}

// Closing returns where the brace is that ends the expression of a template begun at i;
// -1 when none does. Braces and quotes in the expression are followed.
func Closing(runes []rune, i int) int {
	depth := 0
	for at, r := range Code(runes, i, len(runes)) {
		switch {
		case r == '{':
			depth++
		case r == '}' && depth == 0:
			return at
		case r == '}':
			depth--
		}
	}
	return -1
}

// Code goes through the characters of an expression that are in none of its literals,
// from one place to before another. In a comment quotes begin no literal.
func Code(runes []rune, from, to int) iter.Seq2[int, rune] {
	return func(yield func(int, rune) bool) {
		to, comment := min(to, len(runes)), false
		for i := from; i < to; i++ {
			r := runes[i]
			if !comment && (r == '"' || r == '\'') {
				i = literalEnd(runes[:to], from, i)
				continue
			}
			comment = r != '\n' && (comment || hasAt(runes[:to], i, "//"))
			if !yield(i, r) {
				return
			}
		}
	}
}

// literalEnd returns where the literal ends whose first quote is at i, in an expression
// that begins at from.
func literalEnd(runes []rune, from, i int) int {
	quote := string(runes[i])
	if triple := strings.Repeat(quote, 3); hasAt(runes, i, triple) {
		quote = triple
	}
	raw := rawPrefix.MatchString(string(runes[max(from, i-3):i]))
	for i += len(quote); i < len(runes); i++ {
		switch {
		case hasAt(runes, i, quote):
			return i + len(quote) - 1
		case runes[i] == '\\' && !raw:
			i++
		}
	}
	return i
}

// rawPrefix is before the quote of a literal in which a backslash is a backslash.
var rawPrefix = regexp.MustCompile(`(^|\W)[bB]?[rR]$`)
