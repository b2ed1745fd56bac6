package guard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
)

// everyPath visits the path of every field, as often as it is there.
func everyPath(v value.Value, path []string, visit func(path []string, f form)) {
	switch v := v.(type) {
	case *value.Map:
		for i := range v.Len() {
			name, field := v.At(i)
			below := append(slices.Clone(path), name)
			visit(below, formOf(field))
			everyPath(field, below, visit)
		}
	case *value.List:
		for _, item := range v.Items() {
			everyPath(item, path, visit)
		}
	}
}

func anyValue(r *rand.Rand, depth int) value.Value {
	switch kind := r.IntN(4); {
	case depth == 0 || kind == 0:
		return []value.Value{value.OfInt(1), value.Null}[r.IntN(2)]
	case kind == 1:
		items := make([]value.Value, r.IntN(4))
		for i := range items {
			items[i] = anyValue(r, depth-1)
		}
		return value.NewList(items)
	}
	fields := map[string]value.Value{}
	for range r.IntN(5) {
		fields[fmt.Sprint(r.IntN(8))] = anyValue(r, depth-1)
	}
	return value.FromMap(fields)
}

// TestFieldTree: every path is visited once, in the order in which they are there.
func TestFieldTree(t *testing.T) {
	t.Parallel()
	many := value.Empty
	for i := range 3 * manyFields {
		many = many.With(fmt.Sprintf("field-%03d", i*7%100), value.FromMap(map[string]value.Value{"x": value.OfInt(1)}))
	}
	values := []value.Value{value.NewList([]value.Value{many, many.With("another", value.Empty), value.Empty.With("field-001", value.OfInt(1)), many})}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		values = append(values, anyValue(r, 5))
	}
	for _, v := range values {
		var want, got []string
		everyPath(v, nil, func(path []string, f form) {
			if text := fmt.Sprint(path, f); !slices.Contains(want, text) {
				want = append(want, text)
			}
		})
		var all fieldTree
		all.walk(v, func(path []string, f form) { got = append(got, fmt.Sprint(path, f)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v (- every path, + visited):\n%s", value.Plain(v), diff)
		}
	}
}

// TestFieldTreeOfAList: what a list costs is what its items differ in.
func TestFieldTreeOfAList(t *testing.T) {
	item := value.FromMap(map[string]value.Value{"name": value.OfString("a"), "groups": value.NewList([]value.Value{value.FromMap(map[string]value.Value{"name": value.OfString("b")})})})
	of := func(n int) float64 {
		list := value.FromMap(map[string]value.Value{"status": value.NewList(slices.Repeat([]value.Value{item}, n))})
		return testing.AllocsPerRun(10, func() {
			var all fieldTree
			all.walk(list, func([]string, form) {})
		})
	}
	if one, many := of(1), of(5000); many != one {
		t.Errorf("%v allocations for one item, %v for 5,000", one, many)
	}
}
