package scan

// Eight bytes at once: all of them one, and the highest bit of each.
const (
	each    = 0x0101010101010101
	highest = 0x80 * each
)

// odd finds the bytes that a string cannot pass over among eight: the quote, the
// backslash, and those that are not printable ASCII. The lowest bit of the result stands
// in the first of them, 0 is none; what is above the lowest may be wrong.
func odd(word uint64) uint64 {
	quote, backslash := word^'"'*each, word^'\\'*each
	return (word | (word-' '*each)&^word | (quote-each)&^quote | (backslash-each)&^backslash) & highest
}

// ends finds quotes and backslashes among eight bytes, as odd does what it finds.
func ends(word uint64) uint64 {
	quote, backslash := word^'"'*each, word^'\\'*each
	return ((quote-each)&^quote | (backslash-each)&^backslash) & highest
}
