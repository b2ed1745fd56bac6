package informers

import "testing"

// TestSuspiciousLosses: a few of many may go unseen while nobody watches.
func TestSuspiciousLosses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		lost, of int
		want     bool
	}{{0, 0, false}, {1, 1, true}, {4, 4, true}, {5, 6, false}, {6, 30, false}, {6, 29, true}, {60, 5000, false}, {5000, 5000, true}} {
		if got := suspicious(tc.lost, tc.of); got != tc.want {
			t.Errorf("%d of %d: %v", tc.lost, tc.of, got)
		}
	}
}
