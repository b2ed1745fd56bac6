package document

import "slices"

// edits returns how many letters are inserted, left out, replaced or swapped with the next
// one to make a word of another.
func edits(a, b string) int {
	from, to := []rune(a), []rune(b)
	var before, above []int
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		before, above, row = above, row, append([]int{i + 1}, make([]int, len(to))...)
		for j := range to {
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+differ(from[i], to[j]))
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(to)]
}

func differ(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}

// letters returns the letters of a word in the order of the alphabet.
func letters(word string) string {
	out := []rune(word)
	slices.Sort(out)
	return string(out)
}
