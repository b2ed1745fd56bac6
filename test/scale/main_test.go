package main

import "testing"

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
