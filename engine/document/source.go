package document

import (
	"unicode/utf8"
)

// Source is a file's text, split so that positions can be followed in it.
type Source struct {
	File  string
	lines [][]rune
}

// NewSource keeps a text for later look-ups.
func NewSource(file string, text []byte) *Source {
	s := &Source{File: file}
	line := []rune{}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case r == '\r' && len(text) > 0 && text[0] == '\n':
		case r == '\n', r == '\r', r == '\u0085', r == '\u2028', r == '\u2029': // what YAML takes for a line break
			s.lines = append(s.lines, line)
			line = []rune{}
		default:
			line = append(line, r)
		}
	}
	s.lines = append(s.lines, line)
	return s
}

// Line returns the text of a line, counted from 1; "" if there is none.
func (s *Source) Line(line int) string {
	if line < 1 || line > len(s.lines) {
		return ""
	}
	return string(s.lines[line-1])
}

// locate walks the raw text and the value side by side: where they agree a
// value's character is found; white space that folding removed, quotes and
// escapes are stepped over.
func (s *Source) locate(n *Node, offset int) Position {
	c := cursor{lines: s.lines, line: n.Pos.Line - 1, col: n.Pos.Column - 1}
	if !n.verbatim {
		c.enter()
	}
	value := []rune(n.Text)
	for i := 0; i < offset && i < len(value); i++ {
		c.match(value[i])
		if c.quote == '\'' && c.current() == '\'' { // '' is one quote
			c.step()
		}
		c.step()
	}
	if offset < len(value) {
		c.match(value[offset])
	}
	return Position{File: n.Pos.File, Line: c.line + 1, Column: c.col + 1}
}

// cursor is a place in the raw text.
type cursor struct {
	lines     [][]rune
	line, col int
	quote     rune
}

func (c *cursor) current() rune {
	if c.line >= len(c.lines) || c.col >= len(c.lines[c.line]) {
		return '\n'
	}
	return c.lines[c.line][c.col]
}

func (c *cursor) done() bool { return c.line >= len(c.lines) }

func (c *cursor) step() {
	if c.done() {
		return
	}
	if c.col >= len(c.lines[c.line]) {
		c.line, c.col = c.line+1, 0
		return
	}
	c.col++
}

// enter steps over an opening quote or the header of a block scalar.
func (c *cursor) enter() {
	switch r := c.current(); r {
	case '"', '\'':
		c.quote = r
		c.step()
	case '|', '>':
		c.line, c.col = c.line+1, 0
	}
}

// match moves on until the raw text shows the wanted character of the value.
func (c *cursor) match(want rune) {
	start := *c
	for !c.done() {
		switch got := c.current(); {
		case c.quote == '"' && got == '\\':
			c.step()
			if n := digits[c.current()]; n > 0 {
				for range n {
					c.step()
				}
				return
			}
			if escaped(c.current(), want) {
				return
			}
		case got == want, isSpace(want) && isSpace(got):
			return
		case c.quote == '\'' && got == '\'', isSpace(got):
		default: // lost: stay where the two last agreed
			*c = start
			return
		}
		c.step()
	}
}

// digits are how many hex digits follow an escape that gives a character by
// its number.
var digits = map[rune]int{'x': 2, 'u': 4, 'U': 8}

func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }

func escaped(got, want rune) bool {
	return got == want || got == 'n' && want == '\n' || got == 't' && want == '\t'
}
