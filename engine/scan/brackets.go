package scan

import (
	"encoding/binary"
	"math/bits"
)

// Brackets finds the brackets of JSON that stand outside of strings, in a text of which
// more and more may be known. It checks nothing else.
type Brackets struct {
	// inText is whether the place is inside of a string, escaped whether what comes
	// next there stands behind a backslash.
	inText, escaped bool
}

// What a byte outside of a string is; 0 for all others.
const (
	bracket = 1 + iota
	quote
)

var marks = [256]uint8{'{': bracket, '}': bracket, '[': bracket, ']': bracket, '"': quote}

// Next returns where the next bracket stands from a place on, and the length of the text
// if there is none.
func (b *Brackets) Next(text []byte, at int) int {
	for at < len(text) {
		if b.inText {
			at = b.leave(text, at)
			continue
		}
		switch marks[text[at]] {
		case bracket:
			return at
		case quote:
			b.inText = true
		}
		at++
	}
	return at
}

// leave returns the place behind a string.
func (b *Brackets) leave(text []byte, at int) int {
	if b.escaped {
		b.escaped = false
		at++
	}
	for at < len(text) {
		if len(text)-at >= 8 {
			found := ends(binary.LittleEndian.Uint64(text[at:]))
			if found == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(found) / 8
		}
		switch text[at] {
		case '"':
			b.inText = false
			return at + 1
		case '\\':
			at++
			b.escaped = at == len(text)
		}
		at++
	}
	return len(text)
}
