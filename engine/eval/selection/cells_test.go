package selection

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
)

// randomRows are truths, some rows without a value, and some texts if there may be any.
func randomRows(r *rand.Rand, rows int, texts bool) []value.Value {
	out := make([]value.Value, rows)
	for row := range out {
		switch n := r.IntN(8); {
		case n == 0:
		case n == 1 && texts:
			out[row] = value.OfString("a")
		default:
			out[row] = types.Bool(n%2 == 0)
		}
	}
	return out
}

// TestCells: cells that keep truths as bits have the values that they were made of, also
// after a change of some rows.
func TestCells(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		old := randomRows(r, 1+r.IntN(200), r.IntN(3) == 0)
		l := &legacy{inPlace: r.IntN(2) == 0}
		for at := range old {
			l.from = append(l.from, int32(at))
		}
		if !l.inPlace {
			r.Shuffle(len(l.from), func(i, j int) { l.from[i], l.from[j] = l.from[j], l.from[i] })
		}
		var todo []int32
		for at := range l.from {
			if r.IntN(4) == 0 {
				todo = append(todo, int32(at))
				l.from[at] = -1
			}
		}
		fresh := randomRows(r, len(todo), r.IntN(3) == 0)
		before := cellsOf(slices.Clone(old))
		sameRows(t, before, old)
		after := before.with(fresh, todo, l)
		sameRows(t, after, merged(old, fresh, todo, l))
		sameRows(t, before, old)
	}
}

// sameRows compares cells with the values that they should have.
func sameRows(t *testing.T, c *cells, want []value.Value) {
	t.Helper()
	if d := cmp.Diff(want, c.values()); d != "" {
		t.Fatal(d)
	}
	truths := c.tell()
	for row, v := range want {
		if c.at(row) != v || truths.yes.has(row) != (v == types.True) || truths.no.has(row) != (v == types.False) {
			t.Fatalf("row %d, %v: %v, true %t, false %t", row, v, c.at(row), truths.yes.has(row), truths.no.has(row))
		}
	}
}

// TestLentRoom: a column that begins with truths and has other values keeps its values
// when the memory in which it was computed is used again.
func TestLentRoom(t *testing.T) {
	t.Parallel()
	want := []value.Value{types.True, nil, types.False, value.OfString("a")}
	for rows := range len(want) + 1 {
		f := &filling{scratch: &scratch{}, todo: make([]int32, rows)}
		copy(f.room(want[:min(rows, 3)]), want)
		if !f.lent {
			t.Error("truths take memory of their own")
		}
		memory := f.vals
		c := f.column(nil, nil)
		for i := range memory {
			memory[i] = value.OfString("another column")
		}
		sameRows(t, c.cells, want[:rows])
	}
}
