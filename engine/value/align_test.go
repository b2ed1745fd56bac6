package value

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAlign: each item is found where the same one stands in the old list, whatever has
// been done to the list, and none is found twice.
func TestAlign(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	list := make([]Value, 500)
	for i := range list {
		list[i] = NewMap([]string{"a"}, []Value{OfInt(int64(i))})
	}
	for range 500 {
		next := slices.Clone(list)
		for range 1 + r.IntN(3) {
			at := r.IntN(len(next))
			switch r.IntN(6) {
			case 0:
				next[at] = NewMap([]string{"a"}, []Value{OfInt(1)})
			case 1:
				next = slices.Delete(next, at, at+1)
			case 2:
				next = slices.Insert(next, at, Value(NewMap([]string{"b"}, []Value{Null})))
			case 3:
				next[at] = next[0] // twice the same
			case 4:
				next[at] = OfInt(5)
			case 5:
				r.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
			}
		}
		found, taken := 0, map[int32]bool{}
		for i, at := range Align(list, next) {
			if at < 0 {
				continue
			}
			if found++; list[at] != next[i] || taken[at] {
				t.Fatalf("item %d is found at %d", i, at)
			}
			taken[at] = true
		}
		if found < 490 {
			t.Fatalf("%d of %d items are found", found, len(next))
		}
		list = list[:min(500, len(list))]
	}
}

func TestAlike(t *testing.T) {
	t.Parallel()
	object := func(v Value) Value { return NewMap([]string{"a"}, []Value{v}) }
	for _, pair := range [][2]Value{
		{OfInt(1), OfInt(1)}, {object(OfString("x")), object(OfString("x"))}, {NewList([]Value{Null}), NewList([]Value{Null})}, {Some(OfInt(1)), Some(OfInt(1))}, {None, None}, {nil, nil},
	} {
		if !Alike(pair[0], pair[1]) {
			t.Errorf("%v is not alike", pair)
		}
	}
	for _, pair := range [][2]Value{
		{OfInt(1), OfDouble(1)}, {object(OfInt(1)), object(OfDouble(1))}, {NewList([]Value{OfInt(1)}), NewList([]Value{OfDouble(1)})}, {Some(OfInt(1)), None}, {nil, Null}, {Null, nil},
		{object(Null), Empty}, {NewList(nil), NewList([]Value{Null})}, {OfString(""), Null},
	} {
		if Alike(pair[0], pair[1]) {
			t.Errorf("%v is alike", pair)
		}
	}
}
