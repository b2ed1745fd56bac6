package document

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// DidYouMean returns a hint that names the closest of the known words, or ""; of
// two that are equally close always the same, in whatever order they are known.
func DidYouMean(word string, known []string) string {
	best, distance := "", 0
	for _, k := range known {
		d, near := nearness(strings.ToLower(word), strings.ToLower(k))
		if near && (best == "" || d < distance || d == distance && k < best) {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// Hinted is DidYouMean for the end of a sentence.
func Hinted(word string, known []string) string {
	if hint := DidYouMean(word, known); hint != "" {
		return "; " + hint
	}
	return ""
}

// nearness returns how many mistakes make a word of a known one, and whether they are few
// enough for it to be meant. A short word is another word after few changes.
func nearness(word, known string) (mistakes int, near bool) {
	short, long := len(word), len(known)
	if short > long {
		short, long = long, short
	}
	if word == known {
		return 0, true
	}
	if short < 2 || long-short > maxMistakes && !part(word, known) {
		return 0, false
	}
	mistakes = edits(word, known)
	switch {
	case part(word, known):
		return mistakes, true
	case short <= 3:
		return mistakes, mistakes == 1 && (short < long || letters(word) == letters(known))
	case short <= 5:
		return mistakes, mistakes == 1 && (short < long || word[0] == known[0] || letters(word) == letters(known))
	default:
		return mistakes, mistakes <= min(maxMistakes, short/3)
	}
}

// maxMistakes are how many mistakes a long word may have.
const maxMistakes = 3

// part reports whether a word is the beginning or the end of a known one, goes on after it,
// or leaves out a few letters of it.
func part(word, known string) bool {
	switch n, of := len(word), len(known); {
	case n < 3 || of > 2*n+1 || n > 2*of:
		return false
	case strings.HasPrefix(known, word):
		return true
	case strings.HasSuffix(known, word):
		return n > 3
	case strings.HasPrefix(word, known):
		return of > 3
	default:
		return word[0] == known[0] && of < 2*n && of-n <= maxMistakes && leavesOut(word, known)
	}
}

// leavesOut reports whether a word has letters of a known one in their order, and no others.
func leavesOut(word, known string) bool {
	for _, r := range known {
		if first, size := utf8.DecodeRuneInString(word); size > 0 && first == r {
			word = word[size:]
		}
	}
	return word == ""
}
