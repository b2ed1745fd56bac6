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

// TestFlags: what cannot be measured is rejected.
func TestFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]options{"": {scale: 0.1, binary: "bin/edict"}, "-scale 2 -edict e": {scale: 2, binary: "e"}} {
		if got, err := parse(strings.Fields(args)); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", args, got, err, want)
		}
	}
	for _, args := range []string{"-scale 0", "-scale -1"} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), "above 0") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
