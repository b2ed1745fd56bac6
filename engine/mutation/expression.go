package mutation

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
)

// seen is a place in a text that was changed already: an expression is compiled more
// than once where children use it.
type seen struct {
	node   *document.Node
	offset int
}

// token finds the parts of an expression that are changed, and those in which nothing
// is: texts in quotes are one, comments another.
var token = regexp.MustCompile(`//[^\n]*|[rR]?"(?:[^"\\]|\\.)*"|[rR]?'(?:[^'\\]|\\.)*'|conditions\.isTrue\(|&&|\|\||[=!<>]=|[<>+*/!-]|\.(?:exists|all)\(|\b(?:true|false)\b|\b\d+\b|[A-Za-z_]\w*|\d+\.\d+`)

// others are what a token is changed to.
var others = map[string]string{
	"&&": "||", "||": "&&", "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "/", "/": "*",
	"!": "", "true": "false", "false": "true", ".exists(": ".all(", ".all(": ".exists(",
	"conditions.isTrue(": "!conditions.isTrue(",
}

// expression adds the mutants of an expression.
func (m *maker) expression(p *cel.Program) {
	text := p.Text()
	if text.Node == nil || !text.Node.Written() {
		return
	}
	if m.seen == nil {
		m.seen = map[seen]bool{}
	}
	for _, at := range token.FindAllStringIndex(text.Source, -1) {
		was := text.Source[at[0]:at[1]]
		now, ok := changed(was)
		if was == `""` && strings.HasSuffix(text.Source[:at[0]], "orValue(") {
			continue // no text and another that nothing has are the same default nearly always
		}
		offset := text.Offset + len([]rune(text.Source[:at[0]]))
		key := seen{text.Node, offset}
		if !ok || m.seen[key] {
			continue
		}
		m.seen[key] = true
		by := *text.Node
		by.Text = replaced(text.Node.Text, offset, was, now)
		if by.Text == "" {
			continue // the scalar is escaped: what stands there is something else
		}
		m.add(text.Node.At(offset), describe(was, now), text.Node, &by)
	}
}

// changed returns what a token becomes; ok is false for one that stays.
func changed(was string) (now string, ok bool) {
	if now, ok = others[was]; ok {
		return now, true
	}
	if n, err := strconv.Atoi(was); err == nil {
		return strconv.Itoa(n + 1), true
	}
	if quote := was[len(was)-1:]; (quote == `"` || quote == "'") && len(was) >= 2 {
		return was[:len(was)-1] + "~" + quote, true
	}
	return "", false
}

// replaced returns a text with a part of it replaced, counted in characters; "" if
// the part does not stand there.
func replaced(text string, offset int, was, now string) string {
	runes := []rune(text)
	size := len([]rune(was))
	if offset+size > len(runes) || string(runes[offset:offset+size]) != was {
		return ""
	}
	return string(runes[:offset]) + now + string(runes[offset+size:])
}

func describe(was, now string) string {
	was, now = strings.Trim(was, ".("), strings.Trim(now, ".(")
	if now == "" {
		return was + " removed"
	}
	return fmt.Sprintf("%s becomes %s", was, now)
}
