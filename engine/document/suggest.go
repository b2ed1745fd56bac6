package document

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// DidYouMean returns a hint that names the closest of the known words, or ""; of
// two that are equally close always the same, in whatever order they are known.
func DidYouMean(word string, known []string) string {
	best, distance := "", 1+len(word)/3
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k)); d <= distance {
			if best == "" || d < distance || k < best {
				best, distance = k, d
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}
