package measure

import (
	"errors"
	"runtime"
	"runtime/debug"
	"testing"
)

const megabyte = 1 << 20

// TestSeries: what a step keeps is live, what it drops is only allocated, and the
// collector is off meanwhile and on again afterwards.
func TestSeries(t *testing.T) { //nolint:paralleltest // other tests allocate
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	var kept, dropped []byte
	s := NewSeries()
	got, err := s.Step(func() error {
		if p := debug.SetGCPercent(-1); p != -1 {
			t.Errorf("the collector is at %d %%", p)
		}
		kept, dropped = make([]byte, 8*megabyte), make([]byte, 4*megabyte)
		dropped[0] = 1
		dropped = nil
		return errors.ErrUnsupported
	})
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error %v", err)
	}
	if p := debug.SetGCPercent(100); p != 100 {
		t.Errorf("the collector is at %d %% afterwards", p)
	}
	if got.Live < 7*megabyte || got.Live > 9*megabyte {
		t.Errorf("%v bytes are live, want those of 8 MiB", got.Live)
	}
	if got.Bytes < 12*megabyte || got.Allocs < 2 || got.CPU <= 0 {
		t.Errorf("%+v, want at least 12 MiB in two allocations", got)
	}
	runtime.KeepAlive(kept)
	kept = nil
	if next, _ := s.Step(func() error { return nil }); next.Live > -7*megabyte || next.Bytes > megabyte {
		t.Errorf("the next step has %+v, want what the one before kept to be gone", next)
	}
}

// TestOnce: the collector is on, and part of the CPU time.
func TestOnce(t *testing.T) { //nolint:paralleltest // other tests allocate
	percent := debug.SetGCPercent(100)
	defer debug.SetGCPercent(percent)
	got, err := Once(func() error {
		if p := debug.SetGCPercent(100); p != 100 {
			t.Errorf("the collector is at %d %%", p)
		}
		return nil
	})
	if err != nil || got.Live > megabyte {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestMedianOfCosts: each figure has a median of its own.
func TestMedianOfCosts(t *testing.T) {
	t.Parallel()
	got := Median([]Cost{{CPU: 1, Allocs: 30, Live: 5}, {CPU: 3, Allocs: 10, Live: -5}, {CPU: 2, Allocs: 20, Bytes: 7, Live: 1}})
	if want := (Cost{CPU: 2, Allocs: 20, Live: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Median([]Cost{{CPU: 1}, {CPU: 4}}); got.CPU != 2.5 {
		t.Errorf("the median of 1 and 4 is %v", got.CPU)
	}
}

// TestLess: a difference is not below nothing, but for what is live.
func TestLess(t *testing.T) {
	t.Parallel()
	got := Cost{CPU: 5, Allocs: 1, Bytes: 9, Live: 1}.Less(Cost{CPU: 1, Allocs: 2, Bytes: 4, Live: 3}).Times(2)
	if want := (Cost{CPU: 8, Bytes: 10, Live: -4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
