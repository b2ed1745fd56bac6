package value

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// mixed makes a value, often one that is equal to another of them.
func mixed(r *rand.Rand) Value {
	n := r.IntN(12)
	return []Value{
		OfString(fmt.Sprint("t", n)), OfString(fmt.Sprint(n)), OfInt(int64(n)), OfDouble(float64(n)), types.Uint(n), OfBool(n%2 == 0), Null,
		OfDouble(math.NaN()), types.Bytes(fmt.Sprint(n)), types.OptionalOf(OfString(fmt.Sprint("t", n))), NewList([]Value{OfString("t1")}), Field("t1", OfInt(int64(n))),
	}[r.IntN(12)]
}

// TestListContains: a value is among the items of a list if it is equal to one of them,
// for lists of any length, and however often it was asked for.
func TestListContains(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		items := make([]Value, r.IntN(4*manyTexts))
		for i := range items {
			items[i] = mixed(r)
		}
		list, plain := NewList(items), types.NewRefValList(types.DefaultTypeAdapter, items)
		for range 4 * fewLookups {
			if v := mixed(r); list.Contains(v) != plain.(interface{ Contains(ref.Val) ref.Val }).Contains(v) {
				t.Fatalf("%v (%s) in %v is %v", v, v.Type(), items, list.Contains(v))
			}
		}
	}
}

func textList(n int) *List {
	items := make([]Value, n)
	for i := range items {
		items[i] = OfString(fmt.Sprintf("item-%05d", i))
	}
	return NewList(items)
}

// TestTextsAreLookedUp: once a few texts were looked for in a list, all are in its table.
func TestTextsAreLookedUp(t *testing.T) {
	t.Parallel()
	for _, n := range []int{manyTexts, 1000, 10_000} {
		l := textList(n)
		for i := range n {
			if l.Contains(l.At(i)) != types.True {
				t.Fatal(l.At(i))
			}
		}
		table := l.looked().table.Load()
		if table == nil || len(*table) != n {
			t.Errorf("%d texts are not looked up: %v", n, table)
		}
	}
}

// TestFewLookupsMakeNothing: for few texts, or in few items, no table is made.
func TestFewLookupsMakeNothing(t *testing.T) {
	t.Parallel()
	long, short := textList(manyTexts), textList(manyTexts-1)
	for range fewLookups {
		long.Contains(OfString("no"))
	}
	if long.looked().table.Load() != nil {
		t.Error("a table was made for a few lookups")
	}
	for range 10 * fewLookups {
		short.Contains(OfString("no"))
		long.Contains(OfInt(1))
	}
	if short.texts.Load() != nil || long.looked().table.Load() != nil {
		t.Error("a table was made for few items, or for numbers")
	}
}

// TestLookupsAtOnce: several may look for texts in one list at the same time.
func TestLookupsAtOnce(t *testing.T) {
	t.Parallel()
	l := textList(1000)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range l.Len() {
				if l.Contains(l.At(i)) != types.True || l.Contains(OfString(fmt.Sprint(i))) == types.True {
					t.Error(l.At(i))
				}
			}
		})
	}
	all.Wait()
}
