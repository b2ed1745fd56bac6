package main

import (
	"strings"
	"testing"
)

// TestSizes: pools have as many nodes as they may have, and there are more of them at
// larger scales.
func TestSizes(t *testing.T) {
	t.Parallel()
	for scale, want := range map[float64]sizes{
		0.001: {pools: 5, nodes: 15, volumes: 10}, 0.1: {pools: 5, nodes: 500, volumes: 1000}, 1: {pools: 5, nodes: 5000, volumes: 10_000},
		2: {pools: 10, nodes: 10_000, volumes: 20_000}, 4: {pools: 20, nodes: 20_000, volumes: 40_000},
	} {
		if got := sizesOf(scale); got != want || got.perPool() > 1000 {
			t.Errorf("a scale of %v has %+v with %d nodes in a pool, want %+v", scale, got, got.perPool(), want)
		}
	}
}

// TestFlags: without -processes nothing is shared, and what cannot be measured is rejected.
func TestFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]options{
		"":                                {scale: 0.1, binary: "bin/edict"},
		"-scale 2 -edict e":               {scale: 2, binary: "e"},
		"-processes 8":                    {scale: 0.1, binary: "bin/edict", processes: 8},
		"-processes 1 -limits -scale 0.5": {scale: 0.5, binary: "bin/edict", processes: 1, limits: true},
	} {
		if got, err := parse(strings.Fields(args)); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", args, got, err, want)
		}
	}
	for args, want := range map[string]string{
		"-processes 9": "from 0 to 8", "-processes -1": "from 0 to 8", "-scale 0": "above 0", "-scale -1": "above 0", "-limits": "only with -processes",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", args, err, want)
		}
	}
}

// TestPhases: with several processes, one is killed and stays away; one alone starts again.
// Without shards none is killed.
func TestPhases(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "one node of a pool", 1: "one process is killed and starts", 4: "one process is killed and stays"} {
		f := &fleet{sharing: n > 0, processes: make([]*process, max(1, n))}
		all := phases(&world{}, f)
		if got := all[len(all)-1].name; !strings.HasPrefix(got, want) {
			t.Errorf("%d processes: the last phase is %q, want %q", n, got, want)
		}
		if !all[0].starts || !all[1].starts || all[2].starts {
			t.Errorf("%d processes: the first two phases start all processes, got %+v", n, all)
		}
	}
}
