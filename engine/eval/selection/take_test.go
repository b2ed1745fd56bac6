package selection_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/edict-dev/edict/engine/eval/selection"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// job is a candidate with a weight, which may be a whole number or not.
type job struct {
	name             string
	priority, weight float64
}

func (j job) value() value.Value {
	number := func(f float64) any {
		if f == float64(int64(f)) {
			return int64(f)
		}
		return f
	}
	return value.Freeze(map[string]any{"metadata": map[string]any{"name": j.name}, "priority": int64(j.priority), "weight": number(j.weight)}, nil, value.KeepAll)
}

// expected takes jobs as the language says it: by priority, then by name, while they
// fit into the budget.
func expected(jobs []job, budget float64, most int, skip bool) (out []string) {
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b job) int {
		if a.priority != b.priority {
			return int(b.priority - a.priority)
		}
		return strings.Compare(a.name, b.name)
	})
	for _, j := range jobs {
		switch {
		case len(out) >= most:
			return out
		case j.weight <= budget:
			budget -= j.weight
			out = append(out, j.name)
		case !skip:
			return out
		}
	}
	return out
}

// world is a random one: the scope of a selection, its jobs, and the bounds.
func world(r *rand.Rand) (scope names, jobs []job, budget float64, most int) {
	quarters := func(n int) float64 { return float64(r.IntN(n)) / 4 }
	list := make([]value.Value, r.IntN(80))
	for i := range list {
		j := job{name: fmt.Sprintf("j%02d", r.IntN(40)*100+i), priority: float64(r.IntN(3)), weight: quarters(24)}
		jobs, list[i] = append(jobs, j), j.value()
	}
	budget, most = quarters(300)-5, r.IntN(60)
	bounds := value.Freeze(map[string]any{"budget": budget, "most": int64(most), "factor": 1.0}, nil, value.KeepAll)
	return names{"inputs.nodes": value.NewList(list), "object": bounds}, jobs, budget, most
}

// TestTakeAgrees takes from random candidates: the plain selection, the shared one, the
// shared one that knows its candidates and the one with details take what the language
// says, and cost the same. Weights are multiples of a quarter, so that sums are exact.
func TestTakeAgrees(t *testing.T) {
	t.Parallel()
	for _, skip := range []bool{false, true} {
		for _, weight := range []string{"dyn(node).weight", "double(dyn(node).weight) * double(dyn(object).factor)"} {
			t.Run(fmt.Sprint(weight, skip), func(t *testing.T) {
				t.Parallel()
				s := selectOf(t, "candidates: [{as: node, in: 'dyn(inputs.nodes)'}]",
					"pipeline: [{score: priority, points: 'dyn(node).priority'}]", "orderBy: [node.metadata.name]",
					fmt.Sprintf("take: {weight: '%s', budget: 'dyn(object).budget', max: 'dyn(object).most', skipTooLarge: %v}", weight, skip))
				for seed := range uint64(60) {
					scope, jobs, budget, most := world(rand.New(rand.NewPCG(seed, 7)))
					want := expected(jobs, budget, most, skip)
					for how, got := range ways(t, s, scope) {
						if d := cmp.Diff(want, got.names, cmpopts.EquateEmpty()); d != "" {
							t.Fatalf("seed %d, %s (-want +got):\n%s", seed, how, d)
						}
						if plain := ways(t, s, scope)["plain"]; plain.summary != got.summary || plain.cost != got.cost {
							t.Fatalf("seed %d, %s: %s for %d, plainly %s for %d", seed, how, got.summary, got.cost, plain.summary, plain.cost)
						}
					}
				}
			})
		}
	}
}

// run is what a selection came to.
type run struct {
	names   []string
	summary string
	cost    uint64
}

// ways runs a selection in all ways.
func ways(t *testing.T, s *plan.Select, scope names) map[string]run {
	t.Helper()
	cache := &selection.Cache{}
	return map[string]run{
		"plain":   selected(t, selection.Input{Select: s, Scope: scope}),
		"details": selected(t, selection.Input{Select: s, Scope: scope, Details: true}),
		"shared":  selected(t, selection.Input{Select: s, Scope: scope, Cache: cache}),
		"known":   selected(t, selection.Input{Select: s, Scope: scope, Cache: cache}),
	}
}

func selected(t *testing.T, in selection.Input) (out run) {
	t.Helper()
	in.Meter = expr.NewMeter(t.Context())
	defer in.Meter.Close()
	o, err := selection.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range o.Winners {
		out.names = append(out.names, value.NameOf(w.Values[0]))
	}
	out.summary, out.cost = o.Summary(""), in.Meter.Spent()
	return out
}
