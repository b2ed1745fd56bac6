package guard

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// anyPatch is made of fields of which some are protected.
func anyPatch(r *rand.Rand, depth int) value.Value {
	if depth == 0 || r.IntN(6) == 0 {
		return []value.Value{value.OfInt(1), value.Null}[r.IntN(2)]
	}
	names := []string{"metadata", "labels", "finalizers", "spec", "template", "containers", "hostNetwork", "image", "status", "node-role.kubernetes.io/x", "providerID", "name"}
	fields := map[string]value.Value{}
	for range 1 + r.IntN(2) {
		inner := anyPatch(r, depth-1)
		if r.IntN(5) == 0 {
			inner = value.NewList([]value.Value{inner, anyPatch(r, depth-1)})
		}
		fields[names[r.IntN(len(names))]] = inner
	}
	return value.FromMap(fields)
}

// TestHarmless: what earlier patches were found to be changes nothing.
func TestHarmless(t *testing.T) {
	t.Parallel()
	g, p := &Guard{}, &plan.Policy{Name: "p"}
	all := g.Of(p)
	r := rand.New(rand.NewPCG(3, 4))
	refused := 0
	for range 20_000 {
		patch, ok := anyPatch(r, 4).(*value.Map)
		if !ok {
			continue
		}
		kind := []string{"Pod", "Node", "Deployment", "Widget", "Lease"}[r.IntN(5)]
		verb := []string{eval.VerbPatch, eval.VerbApply}[r.IntN(2)]
		e := &eval.Effect{Verb: verb, Target: world.MustIdentify(gvk(kind), "", "a"), Patch: patch}
		_, want := g.Of(p).Judge(e)
		_, got := all.Judge(e)
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Fatalf("%s %v: %v, and after other patches %v", kind, value.Plain(patch), want, got)
		}
		if want != nil {
			refused++
		}
	}
	if refused < 1000 || refused > 19_000 {
		t.Errorf("%d were refused", refused)
	}
}

// TestHarmlessCost: a patch like an earlier one is checked without an allocation.
func TestHarmlessCost(t *testing.T) {
	e := effect("Widget", nested("status.conditions[].status", "True"))
	g := (&Guard{}).Of(&plan.Policy{Name: "p"})
	if n := testing.AllocsPerRun(10, func() {
		if _, err := g.Judge(e); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestHarmlessNames: names that are data are not kept without end.
func TestHarmlessNames(t *testing.T) {
	t.Parallel()
	p := &plan.Policy{Name: "p"}
	g := (&Guard{}).Of(p)
	for i := range 2 * maxHarmless {
		if _, err := g.Judge(effect("Widget", nested(fmt.Sprintf("data.key-%d", i), "x"))); err != nil {
			t.Fatal(err)
		}
	}
	if n := g.harmless.kinds[patched{p, gvk("Widget"), true, true}].size(); n < maxHarmless/2 || n > maxHarmless {
		t.Errorf("%d fields are kept, of at most %d", n, maxHarmless)
	}
}
