package cel

import (
	"strings"
)

func hasCode(pieces []piece) bool {
	for _, p := range pieces {
		if p.code {
			return true
		}
	}
	return false
}

// piece is a stretch of a template text; offset counts characters.
type piece struct {
	text   string
	code   bool
	offset int
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
			end := closing(runes, i+2)
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

// closing finds the brace that ends an expression begun at i, or -1.
func closing(runes []rune, i int) int {
	depth, quote := 0, rune(0)
	for ; i < len(runes); i++ {
		switch r := runes[i]; {
		case quote != 0 && r == '\\':
			i++
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '{':
			depth++
		case r == '}' && depth == 0:
			return i
		case r == '}':
			depth--
		}
	}
	return -1
}
