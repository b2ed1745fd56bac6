package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
)

// TestIndexIsMadeWhenAsked: objects of a first list are indexed once somebody asks, and
// from then on as they come.
func TestIndexIsMadeWhenAsked(t *testing.T) {
	t.Parallel()
	asked := 0
	s := NewStore()
	s.Open(pods, value.KeepAll, map[string]IndexFunc{"node": func(o *Object) []string {
		asked++
		return byNode(o)
	}})
	look := func(table *Table, key string, want []string, cost int) {
		t.Helper()
		asked = 0
		if d := cmp.Diff(want, named(table.Lookup("node", key))); d != "" || asked != cost {
			t.Errorf("%d objects were indexed, want %d\n%s", asked, cost, d)
		}
	}
	put := func(name, node string, cost int) *Table {
		t.Helper()
		asked = 0
		if s.Put(pods, pod(name, node, "1")); asked != cost {
			t.Errorf("%d objects were indexed, want %d", asked, cost)
		}
		return s.Snapshot().Table(pods)
	}
	put("c", "n1", 0)
	first := put("a", "n1", 0)
	put("b", "n1", 0)
	look(first, "n1", []string{"a", "c"}, 2)
	third := put("d", "n2", 4) // all at once: the version before was not asked for
	look(third, "n1", []string{"a", "b", "c"}, 0)
	look(put("e", "n1", 1), "n1", []string{"a", "b", "c", "e"}, 0)
	look(put("e", "n2", 2), "n1", []string{"a", "b", "c"}, 0)
	look(first, "n1", []string{"a", "c"}, 0)
}

// TestIndex: whenever it is asked for, an index of any version finds what going through
// the objects finds.
func TestIndex(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	keys := func(o *Object) []string {
		node := value.StringAt(o.Value, "spec", "nodeName")
		return []string{node, "all", node}
	}
	for range 100 {
		s := NewStore()
		s.Open(pods, value.KeepAll, map[string]IndexFunc{"x": keys})
		often := 1 + r.IntN(40)
		versions := []*Table{s.Snapshot().Table(pods)}
		for step := range 150 {
			name := fmt.Sprint("p", r.IntN(60))
			if r.IntN(5) == 0 {
				s.Delete(pods, "ns", name)
			} else {
				s.Put(pods, pod(name, fmt.Sprint("n", r.IntN(4)), fmt.Sprint(step)))
			}
			versions = append(versions, s.Snapshot().Table(pods))
			if r.IntN(often) == 0 {
				checkIndex(t, versions[r.IntN(len(versions))], keys, r)
			}
		}
	}
}

func checkIndex(t *testing.T, table *Table, keys IndexFunc, r *rand.Rand) {
	t.Helper()
	for _, key := range []string{"n0", "n1", "n2", "n3", "all", "none"}[r.IntN(5):] {
		want := slices.DeleteFunc(slices.Clone(table.All()), func(o *Object) bool { return !slices.Contains(keys(o), key) })
		if d := cmp.Diff(named(want), named(table.Lookup("x", key))); d != "" {
			t.Fatalf("under %s:\n%s", key, d)
		}
		for _, o := range want {
			if !table.Under("x", key, o) {
				t.Fatalf("%s is not under %s", o.Name, key)
			}
		}
	}
}
