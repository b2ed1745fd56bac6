package allocations_test

import (
	"testing"

	"github.com/edict-dev/edict/test/allocations"
)

var sink *int

// TestFewest: calls that allocate more than others do not count, and none is left out.
func TestFewest(t *testing.T) {
	calls := 0
	got := allocations.Fewest(func() {
		calls++
		sink = new(int)
		if calls%3 == 0 {
			sink = new(int)
		}
	})
	if got != 1 {
		t.Errorf("%v allocations, want 1", got)
	}
}
