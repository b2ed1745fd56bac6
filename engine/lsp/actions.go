package lsp

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// codeActions offers quick fixes for the findings in a range.
func (s *Server) codeActions(_ context.Context, p findings) (any, error) {
	t, err := s.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := []codeAction{}
	for _, d := range p.Context.Diagnostics {
		if edit, title := t.replacement(d); edit != nil {
			out = append(out, t.action(title, d, *edit))
		}
		if document.Code(d.Code) == document.AbsentField {
			if edit := t.optional(d); edit != nil {
				out = append(out, t.action("read it with .?", d, *edit))
			}
		}
		if d.Severity > severities[document.Error] && (d.Data == nil || !d.Data.Elsewhere) {
			out = append(out, t.action("accept "+d.Code+" here", d, t.acceptance(d)))
		}
	}
	return out, nil
}

func (t *textOf) action(title string, d Diagnostic, edit textEdit) codeAction {
	return codeAction{Title: title, Kind: "quickfix", Diagnostics: []Diagnostic{d}, Edit: workspaceEdit{map[string][]textEdit{t.uri: {edit}}}}
}

var (
	didYouMean = regexp.MustCompile(`did you mean "([^"]+)"\?`)
	metadata   = regexp.MustCompile(`^it is in metadata: write \.(metadata\.\w+)$`)
	quoted     = regexp.MustCompile(`"([^"]+)"`)
)

// replacement writes what a hint suggests in place of the word that a message quotes.
func (t *textOf) replacement(d Diagnostic) (edit *textEdit, title string) {
	if d.Data == nil {
		return nil, ""
	}
	m := didYouMean.FindStringSubmatch(d.Data.Hint)
	if m == nil {
		m = metadata.FindStringSubmatch(d.Data.Hint)
	}
	if m == nil {
		return nil, ""
	}
	message, _, _ := strings.Cut(d.Message, "\n")
	words := quoted.FindAllStringSubmatch(message, -1)
	for _, word := range slices.Backward(words) {
		if r, ok := t.find(d.Range.Start, word[1]); ok {
			return &textEdit{r, m[1]}, "replace " + word[1] + " with " + m[1]
		}
	}
	return nil, ""
}

// find returns the range of a word on a line, from a place on.
func (t *textOf) find(from Position, word string) (Range, bool) {
	p := t.place(from)
	before := t.before(p)
	rest := strings.TrimPrefix(t.line(from.Line), before)
	above, _, ok := strings.Cut(rest, word)
	if !ok {
		return Range{}, false
	}
	p.Column += len([]rune(above))
	return t.until(p, len([]rune(word))), true
}

// optional writes .? in place of the dot before a field that may be absent.
func (t *textOf) optional(d Diagnostic) *textEdit {
	p := t.place(d.Range.Start)
	runes := []rune(t.line(d.Range.Start.Line))
	if i := p.Column - 1; i < len(runes) && runes[i] == '.' && (i+1 == len(runes) || runes[i+1] != '?') {
		return &textEdit{t.until(p, 1), ".?"}
	}
	return nil
}

var blockHeader = regexp.MustCompile(`[|>][-+0-9]*\s*(#.*)?$`)

// acceptance writes a comment that accepts a finding above its line; above the
// beginning of a text of several lines.
func (t *textOf) acceptance(d Diagnostic) textEdit {
	at := d.Range.Start.Line
	for i := at - 1; i >= 0; i-- {
		if strings.TrimSpace(t.lines[i]) == "" || document.Indentation(t.lines[i]) >= document.Indentation(t.line(at)) {
			continue
		}
		if blockHeader.MatchString(t.lines[i]) {
			at = i
		}
		break
	}
	comment := strings.Repeat(" ", document.Indentation(t.line(at))) + "# edict:accept " + d.Code + " REASON\n"
	start := Position{Line: at}
	return textEdit{Range{start, start}, comment}
}
