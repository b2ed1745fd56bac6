package lsp

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/edict-dev/edict/engine/expr/cel"
)

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// wordStart returns where the word begins that ends at a place.
func wordStart(text []rune, end int) int {
	for end > 0 && isWord(text[end-1]) {
		end--
	}
	return end
}

// wordEnd returns where the word ends that a place is in.
func wordEnd(text []rune, at int) int {
	for at < len(text) && isWord(text[at]) {
		at++
	}
	return at
}

// chainStart returns where the operand begins that ends at a place: names, calls and
// lookups, joined by dots.
func chainStart(text []rune, end int) int {
	for end > 0 {
		switch r := text[end-1]; {
		case isWord(r):
			end = wordStart(text, end)
		case strings.ContainsRune(")]}", r):
			if end = opening(text, end); end > 0 && (isWord(text[end-1]) || strings.ContainsRune(")]", text[end-1])) {
				continue
			}
		case r == '"' || r == '\'':
			end = quoteStart(text, end)
		default:
			return end
		}
		dot := beforeDot(text, end)
		if dot == end {
			return end
		}
		end = dot
	}
	return end
}

// beforeDot returns where what is before a . or .? ends; the same place when there is
// none.
func beforeDot(text []rune, at int) int {
	switch {
	case at > 1 && text[at-1] == '?' && text[at-2] == '.':
		return at - 2
	case at > 0 && text[at-1] == '.':
		return at - 1
	}
	return at
}

// opening returns where the bracket is that one before a place closes.
func opening(text []rune, end int) int {
	depth := 0
	for i := end - 1; i >= 0; i-- {
		switch r := text[i]; {
		case strings.ContainsRune(")]}", r):
			depth++
		case strings.ContainsRune("([{", r):
			if depth--; depth == 0 {
				return i
			}
		case r == '"' || r == '\'':
			i = quoteStart(text, i+1)
		}
	}
	return 0
}

// quoteStart returns where the literal begins that ends at a place.
func quoteStart(text []rune, end int) int {
	for i := end - 2; i >= 0; i-- {
		if text[i] == text[end-1] && (i == 0 || text[i-1] != '\\') {
			return i
		}
	}
	return 0
}

// binders are the macros that name the items of what they are called on.
var binders = regexp.MustCompile(`^(all|exists|existsOne|exists_one|filter|map|sortBy|transformList|transformMap|transformMapEntry|optMap|optFlatMap)$`)

var boundName = regexp.MustCompile(`^\s*([A-Za-z_]\w*)\s*,(?:\s*([A-Za-z_]\w*)\s*,)?`)

// inner returns the names at a place in an expression: also those of the loops around
// it.
func inner(env *cel.Env, text []rune, at int) *cel.Env {
	for _, open := range openings(text, at) {
		start := wordStart(text, open)
		names := boundName.FindStringSubmatch(string(text[open+1 : at]))
		end := beforeDot(text, start)
		if names == nil || end == start || !binders.MatchString(string(text[start:open])) {
			continue
		}
		over := env.TypeOfText(string(text[chainStart(text, end):end]))
		if over == nil {
			continue
		}
		if more, err := env.With(bound(names, cel.Unwrap(over))...); err == nil {
			env = more
		}
	}
	return env
}

// bound returns the names of a loop over a type.
func bound(names []string, over *cel.Type) []cel.Var {
	elem := over
	if cel.IsList(over) || cel.IsMap(over) {
		elem = cel.ElemType(over)
	}
	switch {
	case names[2] != "" && cel.IsMap(over):
		return []cel.Var{{Name: names[1], Type: cel.StringType}, {Name: names[2], Type: elem}}
	case names[2] != "":
		return []cel.Var{{Name: names[1], Type: cel.IntType}, {Name: names[2], Type: elem}}
	case cel.IsMap(over):
		elem = cel.StringType
	}
	return []cel.Var{{Name: names[1], Type: elem}}
}

// openings returns where the parentheses are that are open at a place.
func openings(text []rune, at int) (out []int) {
	for i, r := range cel.Code(text, 0, at) {
		switch {
		case r == '(':
			out = append(out, i)
		case r == ')' && len(out) > 0:
			out = out[:len(out)-1]
		}
	}
	return out
}
