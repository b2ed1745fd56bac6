package main

import (
	"testing"

	"github.com/edict-dev/edict/test/bench/measure"
)

// mostAllocs are the allocations of an operation with 100 nodes, with room for what the
// garbage collector makes of pools. CPU time depends on the hour; these do not.
var mostAllocs = map[string]float64{
	"steady, TransZonal":               640,
	"steady, Zonal":                    660,
	"steady, Ignored":                  590,
	"cold, TransZonal":                 2050,
	"cold, Zonal":                      2100,
	"cold, Ignored":                    1900,
	"changed, TransZonal":              1180,
	"changed, Zonal":                   1200,
	"changed, Ignored":                 1090,
	"steady, lean, TransZonal":         590,
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
	for _, s := range cases() {
		if s.Nodes != 100 {
			continue
		}
		t.Run(s.label(), func(t *testing.T) {
			p, err := s.sides(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			f, err := measure.One(1, p.edict)
			if err != nil {
				t.Fatal(err)
			}
			most, listed := mostAllocs[s.label()]
			if !listed || f.Allocs > most+0.5 { // others allocate now and then
				t.Errorf("%.1f allocations, at most %.0f are expected", f.Allocs, most)
			}
		})
	}
}
