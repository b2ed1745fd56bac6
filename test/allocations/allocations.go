// Package allocations counts allocations of code that uses its memory again.
package allocations

import "testing"

// rounds is how many counts are compared. The race detector drops one of four values
// that are put into a sync.Pool: that all rounds lose one has a chance of 4^-20.
const rounds = 20

// Fewest returns the smallest number of allocations of one call of f. A mean would
// contain what a sync.Pool has to make anew when the collector or the race detector
// has emptied it. It must not be called in a parallel test.
func Fewest(f func()) float64 {
	fewest := testing.AllocsPerRun(1, f)
	for range rounds - 1 {
		fewest = min(fewest, testing.AllocsPerRun(1, f))
	}
	return fewest
}
