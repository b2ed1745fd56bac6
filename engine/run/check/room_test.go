package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

// catalogOf returns a catalog of the ConfigMaps a, b and c, with two policies in each.
func catalogOf(t *testing.T) *source.Catalog {
	t.Helper()
	var list []*source.Contents
	for _, name := range []string{"a", "b", "c"} {
		text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: NAME}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [{log: {message: m}}]}]\n"
		list = append(list, source.Read(nil, &source.ConfigMap{Namespace: "ns", Name: name, Data: map[string]string{
			"1.yaml": strings.Replace(text, "NAME", name+"-1", 1), "2.yaml": strings.Replace(text, "NAME", name+"-2", 1),
		}}))
	}
	return source.NewCatalog(list, nil)
}

// TestRoom: what was in force has its room first, then the others by name; the first policy that does not
// fit closes its ConfigMap for the others, and each try refuses the same ones.
func TestRoom(t *testing.T) {
	t.Parallel()
	catalog := catalogOf(t)
	inForce := func(id string, _ *source.Unit) bool { return id == "c-2" }
	kept := map[string]int{"a-1": 60 << 20, "a-2": 10 << 20, "b-1": 60 << 20, "b-2": 1 << 20, "c-1": 10 << 20, "c-2": 60 << 20}
	for range 3 {
		r := newRoom(catalog, lifecycle.NewRegistry())
		order, refused := r.order(inForce), []string{}
		for _, id := range order {
			u := catalog.Units[id]
			v := r.closed(id, u)
			if v == nil {
				v = r.fit(id, &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: u, Plan: &plan.Policy{}}, Kept: kept[id]})
			}
			if v.Plan == nil {
				refused = append(refused, id)
			}
		}
		if want := []string{"c-2", "a-1", "a-2", "b-1", "b-2", "c-1"}; !slices.Equal(order, want) {
			t.Errorf("the order is %v, want %v", order, want)
		}
		if want := []string{"a-2", "c-1"}; !slices.Equal(refused, want) {
			t.Errorf("refused are %v, want %v", refused, want)
		}
	}
}

// TestRoomAgain: a policy that was refused is checked again when there is room.
func TestRoomAgain(t *testing.T) {
	t.Parallel()
	catalog := catalogOf(t)
	v := refusedFor(&lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: catalog.Units["a-2"]}, Kept: 10 << 20}, plan.ErrClosed)
	full := newRoom(catalog, lifecycle.NewRegistry())
	if err := full.Take(full.of("a-1"), 60<<20); err != nil {
		t.Fatal(err)
	}
	if got := full.fit("a-2", v); got != v {
		t.Errorf("without room: %+v", got)
	}
	if got := newRoom(catalog, lifecycle.NewRegistry()).fit("a-2", v); got.Recheck != lifecycle.RecheckDue {
		t.Errorf("with room: %+v", got)
	}
}

// TestRecheckDelay: a text is checked again after a delay that doubles, in the background; one
// that was edited meanwhile keeps its own result.
func TestRecheckDelay(t *testing.T) {
	t.Parallel()
	catalog := catalogOf(t)
	policies, r := lifecycle.NewRegistry(), NewRechecker(nil)
	before := &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: catalog.Units["a-1"]}}
	policies.Check("a-1", before)
	started := 0
	try := func() {
		r.Start(t.Context(), "a-1", before, catalog.Origins["a-1"], time.Minute, func(func()) { started++ })
	}
	try()
	try() // one is under way
	if w := r.waits["a-1"]; started != 1 || w.delay != time.Minute {
		t.Fatalf("%d checks, the next after %v", started, w.delay)
	}
	same := *before
	if r.Complete(Recheck{"a-1", before, &same}, policies) || policies.Get("a-1").Newest != &same {
		t.Error("the same result is news, or is not stored")
	}
	try() // too early
	w := r.waits["a-1"]
	w.next = time.Time{}
	r.waits["a-1"] = w
	try()
	if w := r.waits["a-1"]; started != 2 || w.delay != 2*time.Minute {
		t.Errorf("%d checks, the next after %v", started, w.delay)
	}
	if r.Complete(Recheck{"a-1", before, &same}, policies) {
		t.Error("a result of a text that is gone is news")
	}
}
