package document

// Inside returns the place in the file of a scalar of a place in the text that is its
// value: a file may be a value of another. The beginning of the scalar stands for a text
// as a whole.
func (n *Node) Inside(p Position) Position {
	if p.Line == 0 {
		return n.Pos
	}
	return n.At(offsetOf([]rune(n.Text), p))
}

// offsetOf returns the character at a place in a text, with the line breaks of
// [NewSource].
func offsetOf(text []rune, p Position) (offset int) {
	line, column := 1, 1
	for offset < len(text) && (line < p.Line || line == p.Line && column < p.Column) {
		switch r := text[offset]; {
		case r == '\r' && offset+1 < len(text) && text[offset+1] == '\n':
		case r == '\n', r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			if line == p.Line {
				return offset // beyond the end of the line
			}
			line, column = line+1, 1
		default:
			column++
		}
		offset++
	}
	return offset
}
