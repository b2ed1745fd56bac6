package writer

import (
	"context"
	"testing"
	"time"
)

// TestPace: a policy that writes too much waits, and no other with it.
func TestPace(t *testing.T) {
	t.Parallel()
	p := NewPace(10)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	var stopped error
	for n := 0; stopped == nil && n < 100; n++ {
		stopped = p.wait(ctx, "one")
	}
	if stopped == nil {
		t.Error("nothing bounds it")
	}
	if err := p.wait(t.Context(), "two"); err != nil {
		t.Error(err)
	}
	if err := NewPace(-1).wait(ctx, "one"); err != nil {
		t.Error(err)
	}
}
