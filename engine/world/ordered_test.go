package world

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// TestOrdered compares the set with a sorted slice, across the size at which it
// becomes a tree, and checks that earlier versions stay as they were.
func TestOrdered(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		var set *ordered
		var plain []*Object
		versions, lists := []*ordered{set}, [][]string{{}}
		for range 200 {
			o := pod(fmt.Sprintf("p%02d", r.IntN(80)), "n", "1")
			if r.IntN(3) == 0 {
				set, plain = set.without(o), remove(plain, o)
			} else {
				set, plain = set.with(o), insert(plain, o)
			}
			if !slices.Equal(set.all(), plain) || set.empty() != (len(plain) == 0) {
				t.Fatalf("seed %d: %v, want %v", seed, named(set.all()), named(plain))
			}
			versions, lists = append(versions, set), append(lists, named(plain))
		}
		for i, v := range versions {
			if diff := cmp.Diff(lists[i], named(v.all())); diff != "" {
				t.Fatalf("seed %d: version %d has changed (-want +got):\n%s", seed, i, diff)
			}
		}
	}
}

// TestFirstListIsLinear: four times the objects need about four times the
// memory to load, also when one key of an index finds all of them, and when the index is
// asked for before or after.
func TestFirstListIsLinear(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	for _, before := range []bool{false, true} {
		testFirstList(t, before)
	}
}

func testFirstList(t *testing.T, asked bool) {
	t.Helper()
	allocated := func(n int) float64 {
		objects := make([]*Object, n)
		for i := range objects {
			objects[i] = pod(fmt.Sprintf("p%06d", i*7919%n), fmt.Sprintf("node-%d", i%100), "1")
		}
		s := NewStore()
		s.Open(pods, nil, map[string]IndexFunc{"node": byNode, "all": func(*Object) []string { return []string{"*"} }})
		if asked {
			s.Snapshot().Table(pods).Lookup("all", "*")
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, o := range objects {
			s.Put(pods, o)
		}
		runtime.ReadMemStats(&after)
		if got := len(s.Snapshot().Table(pods).All()); got != n || len(s.Snapshot().Table(pods).Lookup("all", "*")) != n {
			t.Fatalf("%d objects, want %d", got, n)
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	small, large := allocated(5_000), allocated(20_000)
	t.Logf("asked before %t: 5,000 objects %.1f MB, 20,000 %.1f MB", asked, small/1e6, large/1e6)
	if large > 6*small || large > 300e6 {
		t.Errorf("5,000 objects allocate %.1f MB, 20,000 %.1f MB: more than in proportion", small/1e6, large/1e6)
	}
}

// TestUnder: an index has an object under its keys, in its newest version only.
func TestUnder(t *testing.T) {
	t.Parallel()
	source := Source{GVK: schema.GVK{APIVersion: "v1", Kind: "Node"}}
	s := NewStore()
	s.Open(source, value.KeepAll, map[string]IndexFunc{"zone": func(o *Object) []string {
		zone, _ := value.Str(o.Value.Lookup("zone"))
		return []string{zone}
	}})
	put := func(n int, zone string) *Object {
		v := value.FromMap(map[string]value.Value{"zone": value.OfString(zone)})
		_, now := s.Put(source, NewObject(MustIdentify(source.GVK, "", fmt.Sprint("n", n)), "", v, Version{}))
		return now
	}
	var objects []*Object
	for n := range 3 * maxFew { // a small set, then a tree
		objects = append(objects, put(n, "a"))
	}
	old := objects[0]
	moved := put(0, "b")
	table := s.Snapshot().Table(source)
	for _, one := range objects[1:] {
		if !table.Under("zone", "a", one) || table.Under("zone", "b", one) {
			t.Fatalf("%s is not under its zone alone", one.Name)
		}
	}
	if table.Under("zone", "a", old) || table.Under("zone", "b", old) || !table.Under("zone", "b", moved) || table.Under("zone", "a", moved) || table.Under("rack", "b", moved) {
		t.Error("an object that has changed is not under its new zone alone")
	}
}
