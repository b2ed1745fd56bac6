package measure

import (
	"runtime"
	"runtime/debug"
	"slices"
)

// Cost is what a piece of work takes that is done once.
type Cost struct {
	// CPU is the CPU time of the process, in nanoseconds.
	CPU float64 `json:"cpu_ns"`
	// Allocs and Bytes are what was allocated.
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`
	// Live is by how many bytes the live heap has grown. It is negative if more was
	// dropped than made.
	Live float64 `json:"live_bytes"`
}

// Once measures a piece of work, the garbage collector's part included.
func Once(do func() error) (Cost, error) {
	s := NewSeries()
	return s.measure(do)
}

// Series measures steps that follow each other: what is live after one is what is live
// before the next, so that nothing may be made or dropped in between.
type Series struct{ live uint64 }

// NewSeries begins a series with what is live now.
func NewSeries() *Series { return &Series{live: live()} }

// Step measures a step without the garbage collector, which is off meanwhile: which of
// several steps it runs in is left to chance.
func (s *Series) Step(do func() error) (Cost, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return s.measure(do)
}

func (s *Series) measure(do func() error) (Cost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpu()
	err := do()
	used := cpu() - start
	runtime.ReadMemStats(&after)
	was := s.live
	s.live = live()
	return Cost{
		CPU: float64(used), Allocs: float64(after.Mallocs - before.Mallocs), Bytes: float64(after.TotalAlloc - before.TotalAlloc),
		Live: float64(s.live) - float64(was),
	}, err
}

// live returns how many bytes are live. Of two collections the second one frees what
// pools still had after the first.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Less returns what is left of a cost without a part of it, at least nothing.
func (c Cost) Less(part Cost) Cost {
	return Cost{
		CPU: max(0, c.CPU-part.CPU), Allocs: max(0, c.Allocs-part.Allocs), Bytes: max(0, c.Bytes-part.Bytes), Live: c.Live - part.Live,
	}
}

// Times returns a cost multiplied by a factor.
func (c Cost) Times(f float64) Cost {
	return Cost{CPU: f * c.CPU, Allocs: f * c.Allocs, Bytes: f * c.Bytes, Live: f * c.Live}
}

// Median returns the median of each figure of some costs; there has to be one.
func Median(costs []Cost) Cost {
	of := func(figure func(Cost) float64) float64 {
		list := make([]float64, len(costs))
		for i, c := range costs {
			list[i] = figure(c)
		}
		slices.Sort(list)
		return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
	}
	return Cost{
		CPU: of(func(c Cost) float64 { return c.CPU }), Allocs: of(func(c Cost) float64 { return c.Allocs }),
		Bytes: of(func(c Cost) float64 { return c.Bytes }), Live: of(func(c Cost) float64 { return c.Live }),
	}
}
