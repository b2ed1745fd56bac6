package value

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// TestShapes: objects of the same names share them, whoever is first.
func TestShapes(t *testing.T) { // not parallel: it counts allocations
	const workers = 8
	found := make([][]*shape, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range 1000 {
				keys := []string{"a", fmt.Sprintf("b%d", i)}
				found[w] = append(found[w], shapeOf(keys))
				keys[1] = "changed by the caller"
			}
		})
	}
	all.Wait()
	for w := range workers {
		for i, s := range found[w] {
			if want := []string{"a", fmt.Sprintf("b%d", i)}; s != found[0][i] || !slices.Equal(s.keys, want) {
				t.Fatalf("worker %d: %v, want %v, the one of worker 0: %v", w, s.keys, want, s == found[0][i])
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() { shapeOf([]string{"a", "b1"}) }); n > 0 {
		t.Errorf("%v allocations to find a shape", n)
	}
}

// TestWithAll: it is With for each field, also in what is counted.
func TestWithAll(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	some := func(of int) map[string]Value {
		out := map[string]Value{}
		for range r.IntN(of) {
			v := OfString(fmt.Sprint(r.IntN(100)))
			if r.IntN(4) == 0 {
				v = NewList([]Value{v, v})
			}
			out[fmt.Sprintf("k%02d", r.IntN(of))] = v
		}
		return out
	}
	for range 5000 {
		of := 1 + r.IntN(2*maxShared)
		m, changes := FromMap(some(of)), some(of)
		if r.IntN(3) == 0 {
			for k := range changes {
				if r.IntN(3) == 0 {
					changes[k] = nil
				}
			}
		}
		keys := slices.Sorted(maps.Keys(changes))
		vals, want := make([]Value, len(keys)), m
		for i, k := range keys {
			vals[i] = changes[k]
			want = want.With(k, changes[k])
		}
		got := m.WithAll(keys, vals)
		if !slices.Equal(got.keys(), want.keys()) || !slices.Equal(got.vals, want.vals) || got.sizes != want.sizes {
			t.Fatalf("%v with %v: %v %+v, want %v %+v", m, changes, got, got.sizes, want, want.sizes)
		}
	}
}
