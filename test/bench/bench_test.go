package main

import (
	"fmt"
	"testing"
)

// The benchmarks of the command, for go test -bench and its tools.
func BenchmarkEligibility(b *testing.B) {
	b.Chdir("../..")
	e, err := newEdict(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	e.fill()
	if err := e.settle(); err != nil {
		b.Fatal(err)
	}
	p, c, err := byHand()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("node changed", func(b *testing.B) { benchNodeChange(b, e) })
	b.Run("by hand", func(b *testing.B) { benchByHand(b, p, c) })
	b.Run("from nothing", func(b *testing.B) { benchFresh(b, e) })
	b.Run("nothing changed", func(b *testing.B) { benchForced(b, e) })
	b.Run("heartbeat", func(b *testing.B) { benchHeartbeat(b, e) })
}

func BenchmarkPlacement(b *testing.B) {
	b.Chdir("../..")
	for _, nodes := range placementSizes {
		p, err := newPlacing(b.Context(), nodes)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d nodes", nodes), func(b *testing.B) { benchPlace(b, p) })
		b.Run(fmt.Sprintf("%d nodes by hand", nodes), func(b *testing.B) { benchPlaceByHand(b, nodes) })
		b.Run(fmt.Sprintf("%d nodes after a change", nodes), func(b *testing.B) { benchPlaceChanged(b, p) })
		b.Run(fmt.Sprintf("%d nodes first volume", nodes), func(b *testing.B) { benchPlaceFirst(b, p) })
	}
}
