package value

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOrder: none comes first, Last last, and values of one type in their order.
func TestOrder(t *testing.T) {
	t.Parallel()
	names := map[string]Value{"last": Last, "z": OfString("z"), "a": OfString("a"), "2": OfInt(2), "none": None, "null": Null}
	all := []string{"last", "z", "none", "2", "null", "a"}
	slices.SortStableFunc(all, func(a, b string) int { return CompareAll([]Value{names[a]}, []Value{names[b]}) })
	if d := cmp.Diff([]string{"none", "2", "null", "a", "z", "last"}, all); d != "" {
		t.Error(d)
	}
	if CompareAll([]Value{OfInt(1), Last}, []Value{OfInt(1), Last}) != 0 {
		t.Error("two of them differ")
	}
}
