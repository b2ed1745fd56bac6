// Package measure compares the CPU time of two sides that do the same work, in one
// process, in rounds that alternate between them.
package measure

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Side does the work of a case one way.
type Side interface {
	// Prepare gets ready for so many operations. It is not measured.
	Prepare(n int) error
	// Run does operation i of those prepared.
	Run(i int) error
}

// Bounded is a side that can prepare only so many operations.
type Bounded interface{ Max() int }

// Clearing is a side that keeps what a batch has made until it is told to forget it, so
// that the garbage collector does not visit it while the other side is measured.
type Clearing interface {
	// Clear forgets it. It is not measured.
	Clear()
}

// Assisted is a side whose operations contain work of others, such as a server that it
// asks. That work is not measured.
type Assisted interface {
	// Apart is the CPU time that the others have taken so far.
	Apart() time.Duration
}

// Figures are what an operation takes.
type Figures struct {
	// CPU is the CPU time of the process in nanoseconds, the garbage collector's
	// included.
	Min    float64 `json:"min_cpu_ns"`
	Median float64 `json:"median_cpu_ns"`
	Max    float64 `json:"max_cpu_ns"`
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`
	// Batch is how many operations a round has.
	Batch int `json:"operations_per_round"`
}

// Limits of a batch: it goes on until it has allocated twice what is live, so that
// the work of the garbage collector is in it, but no longer than batchTime.
const (
	minTime   = 20 * time.Millisecond
	batchTime = 500 * time.Millisecond
	minHeap   = 4 << 20
	maxBatch  = 20_000
)

// Two measures two sides in turns.
func Two(rounds int, a, b Side) (fa, fb Figures, err error) {
	sides, figures := [2]Side{a, b}, [2]*Figures{&fa, &fb}
	samples := [2][]float64{}
	for i, s := range sides {
		if err := calibrate(s, figures[i]); err != nil {
			return fa, fb, err
		}
	}
	for round := range rounds {
		for turn := range 2 {
			i := (round + turn) % 2 // neither side is always the first
			cpu, err := batch(sides[i], figures[i].Batch)
			if err != nil {
				return fa, fb, err
			}
			samples[i] = append(samples[i], cpu)
		}
	}
	for i := range sides {
		figures[i].from(samples[i])
	}
	return fa, fb, nil
}

// One measures one side.
func One(rounds int, s Side) (f Figures, err error) {
	if err := calibrate(s, &f); err != nil {
		return f, err
	}
	var samples []float64
	for range rounds {
		cpu, err := batch(s, f.Batch)
		if err != nil {
			return f, err
		}
		samples = append(samples, cpu)
	}
	f.from(samples)
	return f, nil
}

func (f *Figures) from(samples []float64) {
	slices.Sort(samples)
	n := len(samples)
	f.Min, f.Max = samples[0], samples[n-1]
	f.Median = (samples[(n-1)/2] + samples[n/2]) / 2
}

// batch runs some operations and returns the CPU time of one.
func batch(s Side, n int) (float64, error) {
	if err := s.Prepare(n); err != nil {
		return 0, err
	}
	runtime.GC()
	used, err := run(s, n)
	return float64(used) / float64(n), err
}

// run runs some operations and returns the CPU time of all, then clears.
func run(s Side, n int) (time.Duration, error) {
	start := of(s)
	for i := range n {
		if err := s.Run(i); err != nil {
			return 0, fmt.Errorf("operation %d: %w", i, err)
		}
	}
	used := of(s) - start
	if c, ok := s.(Clearing); ok {
		c.Clear()
	}
	return used, nil
}

// calibrate warms up, counts allocations, and decides how long a batch is.
func calibrate(s Side, f *Figures) error {
	most := maxBatch
	if b, ok := s.(Bounded); ok {
		most = b.Max()
	}
	if _, err := f.count(s, 1); err != nil { // warms up
		return err
	}
	for n := 1; ; n = min(2*n, most) {
		used, err := f.count(s, n)
		if err != nil {
			return err
		}
		if used >= minTime/4 || n >= most {
			f.Batch = min(size(used/time.Duration(n), f.Bytes), most)
			return nil
		}
	}
}

// count runs a batch and stores what it has allocated.
func (f *Figures) count(s Side, n int) (time.Duration, error) {
	if err := s.Prepare(n); err != nil {
		return 0, err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	used, err := run(s, n)
	runtime.ReadMemStats(&after)
	f.Allocs = float64(after.Mallocs-before.Mallocs) / float64(n)
	f.Bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	return used, err
}

// size returns how many operations a batch has.
func size(one time.Duration, bytes float64) int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	live := max(float64(m.HeapAlloc), minHeap)
	one = max(one, 100*time.Nanosecond)
	n := math.Max(2*live/math.Max(bytes, 1), float64(minTime/one))
	n = math.Min(n, float64(batchTime/one))
	return int(math.Max(1, math.Min(n, maxBatch)))
}

// of returns the CPU time of the process so far, without what others have taken.
func of(s Side) time.Duration {
	used := cpu()
	if a, ok := s.(Assisted); ok {
		used -= a.Apart()
	}
	return used
}

// cpu returns the CPU time of the process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no reason to fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
