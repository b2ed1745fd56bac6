package rego

import (
	"context"
	"testing"
)

// TestTheClockIsLookedAt whatever number of steps functions take between two
// steps of the evaluator.
func TestTheClockIsLookedAt(t *testing.T) {
	t.Parallel()
	for steps := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		l := &limiter{ctx: ctx}
		l.Cancelled()
		cancel()
		looked := 0
		for ; !l.Cancelled(); looked++ {
			l.work(steps)
		}
		if most := 64/(steps+1) + 1; looked > most {
			t.Errorf("with %d steps at a time it is looked at after %d times, not %d", steps, looked, most)
		}
	}
}
