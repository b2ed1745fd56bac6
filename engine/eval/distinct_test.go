package eval

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// TestDistinct: of entries with the same value the one is left that would be the first
// if all were sorted.
func TestDistinct(t *testing.T) {
	t.Parallel()
	c := &plan.Collection{OrderBy: make([]*cel.Program, 1)}
	values := []value.Value{value.OfString("a"), value.OfString("b"), value.OfString("1"), value.OfInt(1), value.OfInt(2), value.Empty}
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		var list []*entry
		for i := range r.IntN(12) {
			order := []value.Value{value.OfInt(r.Int64N(4))}
			list = append(list, &entry{value: values[r.IntN(len(values))], order: order, key: fmt.Sprint(i)})
		}
		want := slices.Clone(list)
		sortEntries(c, want)
		seen := map[string]bool{}
		want = slices.DeleteFunc(want, func(e *entry) bool {
			id := value.Identity(e.value)
			defer func() { seen[id] = true }()
			return seen[id]
		})
		got := distinct(slices.Clone(list))
		sortEntries(c, got)
		if d := cmp.Diff(keysOf(want), keysOf(got)); d != "" {
			t.Fatalf("of %v: -want +got:\n%s", keysOf(list), d)
		}
	}
}

func keysOf(list []*entry) (out []string) {
	for _, e := range list {
		out = append(out, e.key)
	}
	return out
}
