package eval

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
)

// TestPairs: maps of sorted keys are those of the same pairs in another order, and a
// key that stands twice is found in both.
func TestPairs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	twice := 0
	for range 500 {
		keys := make([]string, r.IntN(6))
		for i := range keys {
			keys[i] = string('a' + rune(r.IntN(8)))
		}
		slices.Sort(keys)
		sorted, mixed := newPairs(len(keys)), newPairs(len(keys))
		for i, key := range keys {
			sorted.add(key, value.OfInt(int64(i)))
		}
		for _, i := range byChance(r, keys) {
			mixed.add(keys[i], value.OfInt(int64(i)))
		}
		if diff := cmp.Diff(value.Plain(mixed.grouped()), value.Plain(sorted.grouped())); diff != "" {
			t.Fatalf("%v: groups (-mixed +sorted):\n%s", keys, diff)
		}
		one, two := keyedOf(sorted), keyedOf(mixed)
		if diff := cmp.Diff(two, one); diff != "" {
			t.Fatalf("%v (-mixed +sorted):\n%s", keys, diff)
		}
		if one == nil {
			twice++
		}
	}
	if twice == 0 || twice == 500 {
		t.Errorf("%d of 500 have a key twice", twice)
	}
}

// byChance returns the places of keys in another order, but for those of the same key.
func byChance(r *rand.Rand, keys []string) []int {
	order := r.Perm(len(keys))
	used := map[string]int{}
	for at, i := range order {
		key := keys[i]
		order[at] = slices.Index(keys, key) + used[key]
		used[key]++
	}
	return order
}

func keyedOf(p *pairs) any {
	m, twice := p.keyed()
	if twice != nil {
		return nil
	}
	return value.Plain(m)
}
