package lsp

import (
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/edict-dev/edict/engine/document"
)

// textOf is a document as the editor has it.
type textOf struct {
	uri, path string
	text      string
	lines     []string
}

func newText(uri, text string) *textOf {
	path := uri
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		path = filepath.FromSlash(u.Path)
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return &textOf{uri: uri, path: path, text: text, lines: lines}
}

// uriOf returns the URI of a file.
func uriOf(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func (t *textOf) line(i int) string {
	if i < 0 || i >= len(t.lines) {
		return ""
	}
	return t.lines[i]
}

// place returns a position as the engine counts it. One after the last line is at its end.
func (t *textOf) place(p Position) document.Position {
	if last := len(t.lines) - 1; p.Line > last {
		p = Position{Line: last, Character: len(t.line(last))}
	}
	units := utf16.Encode([]rune(t.line(p.Line)))
	runes := len(utf16.Decode(units[:min(max(p.Character, 0), len(units))]))
	return document.Position{File: t.path, Line: p.Line + 1, Column: runes + 1}
}

// position returns a place as editors count it.
func (t *textOf) position(p document.Position) Position {
	runes := []rune(t.line(p.Line - 1))
	return Position{Line: max(p.Line-1, 0), Character: len(utf16.Encode(runes[:min(max(p.Column-1, 0), len(runes))]))}
}

// until returns the range from a place over some characters.
func (t *textOf) until(p document.Position, characters int) Range {
	end := p
	end.Column += characters
	return Range{t.position(p), t.position(end)}
}

// before returns the text of the line before a place.
func (t *textOf) before(p document.Position) string {
	runes := []rune(t.line(p.Line - 1))
	return string(runes[:min(max(p.Column-1, 0), len(runes))])
}

// with returns the text with a word more at a place.
func (t *textOf) with(p document.Position, word string) string {
	lines := append([]string(nil), t.lines...)
	if p.Line < 1 || p.Line > len(lines) {
		return t.text
	}
	before := t.before(p)
	lines[p.Line-1] = before + word + strings.TrimPrefix(lines[p.Line-1], before)
	return strings.Join(lines, "\n")
}

// compare orders places in one file.
func compare(a, b document.Position) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}
