package cel

import (
	"fmt"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/expr"
)

// TestJoinedLists: the items of a list that a loop has put together are found in one step,
// and the copies are charged.
func TestJoinedLists(t *testing.T) {
	t.Parallel()
	const rounds = 1500
	env := declared(t, Var{"n", ListOf(IntType)}, Var{"none", ListOf(IntType)})
	for text, copies := range map[string]int{
		`n.fold(acc, [0], x, acc + [x])`:                                                 rounds,
		`n.fold(acc, [], x, acc + [x])`:                                                  rounds,
		`n.fold(acc, none, x, acc + [x])`:                                                rounds,
		`n.fold(acc, [0], x, [x] + acc)`:                                                 rounds * rounds / 2,
		`n.fold(acc, [0], x, x % 2 == 0 ? acc + [x, x] : acc)`:                           rounds,
		`n.fold(acc, {"a": dyn([0])}, x, {"a": dyn(acc.a + [x])}).a`:                     rounds,
		`n.slice(0, 30).fold(acc, [0], x, acc + n)`:                                      30 * rounds,
		`n.slice(0, 30).fold(acc, [], x, acc + n)`:                                       30 * rounds,
		`[n.fold(acc, [0], x, acc + [x])].map(l, n.slice(0, 30).map(x, l + [x]))[0][29]`: 31 * rounds,
	} {
		meter := expr.NewMeter(t.Context())
		v, err := compiled(t, env, text).run(names{"n": numbers(rounds), "none": numbers(0)}, meter)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		switch j, flat := v.(joined); {
		case !flat && text != `n.fold(acc, [], x, acc + [x])`: // made without the interpreter
			t.Errorf("%s: is a %T", text, v)
		case flat && meter.Spent() < uint64(copies/itemsPerUnit):
			t.Errorf("%s: is charged %d units for %d items that are copied", text, meter.Spent(), copies)
		case flat && j.n != len(*j.room):
			t.Errorf("%s: has %d of %d items", text, j.n, len(*j.room))
		}
	}
}

// TestJoinedVisits: what + visits is charged, round by round.
func TestJoinedVisits(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 30, 1000} {
		seen := &visits{}
		one := countedList{types.NewDynamicList(types.DefaultTypeAdapter, make([]int, size)), seen}
		for name, next := range map[string]func(acc ref.Val) *callArgs{
			"behind": func(acc ref.Val) *callArgs { return &callArgs{acc, one} },
			"before": func(acc ref.Val) *callArgs { return &callArgs{one, countAll(acc, seen)} },
			"beside": func(acc ref.Val) *callArgs { join(&callArgs{acc, one}); return &callArgs{countAll(acc, seen), one} },
		} {
			acc, charged := ref.Val(one), uint64(0)
			for round := range 100 {
				args := next(acc)
				seen.n = 0
				charged = added(args).Work
				if acc = join(args); uint64(seen.n) > visitsPerUnit*charged || length(acc) != (round+2)*size {
					t.Fatalf("%s, %d items, round %d: %d visits for %d units, %d items", name, size, round, seen.n, charged, length(acc))
				}
			}
		}
	}
}

// countAll counts the visits to a list that was joined.
func countAll(v ref.Val, seen *visits) ref.Val {
	if j, ok := v.(joined); ok {
		j.Lister = countedList{j.Lister, seen}
		return j
	}
	return v
}

// TestTimeOfJoinedLists: CPU time does not grow faster than the charge.
func TestTimeOfJoinedLists(t *testing.T) {
	skipUnmeasured(t)
	env := declared(t)
	for _, step := range []string{"acc + [x]", "[x] + acc", "acc.size() < 9 ? acc + [x] : [acc[0]] + acc"} {
		for _, read := range []string{"exists(x, x < 0)", "map(x, x + 1).sum()", "filter(x, x in [1]).size()"} {
			p := compiled(t, env, fmt.Sprintf("lists.range(50000).fold(acc, [0], x, %s).%s", step, read))
			meter := expr.NewMeter(t.Context())
			before := processorTime(t)
			_, _ = p.run(names{}, meter)
			if took := processorTime(t) - before; uint64(took) > nanosPerUnit*meter.Spent() {
				t.Errorf("%s takes %v for %d units", p.Source(), took, meter.Spent())
			}
		}
	}
}
