package main

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/edict-dev/edict/test/bench/measure"
)

// mostAllocs has the most allocations of an operation with 100 nodes. Unlike CPU time,
// they hardly depend on the load of the machine.
var mostAllocs = map[string]float64{
	"steady, TransZonal":               685,
	"steady, Zonal":                    705,
	"steady, Ignored":                  615,
	"cold, TransZonal":                 2050,
	"cold, Zonal":                      2100,
	"cold, Ignored":                    1900,
	"changed, TransZonal":              1180,
	"changed, Zonal":                   1200,
	"changed, Ignored":                 1090,
	"steady, lean, TransZonal":         616,
	"first volume, TransZonal":         1070,
	"placed again, TransZonal":         3,
	"placed, first look, TransZonal":   52,
	"placed, pool changed, TransZonal": 7,
	"eligibility, node changed":        400,
	"eligibility, node changed, lean":  400,
	"eligibility, cold":                1300,
	"node label":                       108,
	"extender client":                  28,
	"extender client, first request":   36,
}

// TestAllocations: an operation of each case with 100 nodes allocates as often as it did.
func TestAllocations(t *testing.T) {
	t.Chdir("../..")
	// The garbage collector empties pools, more often beside other processes.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	for _, s := range cases() {
		if s.Nodes != 100 {
			continue
		}
		t.Run(s.label(), func(t *testing.T) {
			p, err := s.sides(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			most, listed := mostAllocs[s.label()]
			most *= 1.08 // beside other processes, more goroutines allocate
			allocs := math.Inf(1)
			for attempt := 0; attempt < 5 && allocs > most+0.5; attempt++ {
				f, err := measure.One(1, p.edict)
				if err != nil {
					t.Fatal(err)
				}
				allocs = min(allocs, f.Allocs)
			}
			if !listed || allocs > most+0.5 {
				t.Errorf("%.1f allocations, at most %.0f are expected", allocs, most)
			}
		})
	}
}
