package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// TestALargePoolWorksUnderTheLimits evaluates a pool of the largest size that
// is meant to work, under the limits as they are shipped: at first, and again
// after one node has changed.
func TestALargePoolWorksUnderTheLimits(t *testing.T) {
	t.Chdir("../..")
	e, err := newEdict(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.fill()
	d := e.controller.Evaluate(t.Context(), e.key, now)
	for _, p := range d.Problems {
		t.Errorf("rule %q: %v", p.Rule, p.Err)
	}
	if len(d.Effects) != 1 {
		t.Fatalf("%d effects, want one write of the status", len(d.Effects))
	}
	list, _ := value.Path(d.Effects[0].Patch, "status", "eligibleNodes").(*value.List)
	if list == nil || list.Len() != nodeCount {
		t.Fatalf("the eligible nodes: %v", list)
	}
	groups, _ := value.Path(list.At(0), "lvmVolumeGroups").(*value.List)
	if groups == nil || groups.Len() != groupCount/nodeCount {
		t.Errorf("the groups of the first node: %v", groups)
	}
	if woken := e.put(node(2500, true)); woken != 1 {
		t.Errorf("a changed node wakes %d pools", woken)
	}
	again := e.controller.Evaluate(t.Context(), e.key, now)
	if len(again.Problems) > 0 || len(again.Effects) != 1 || again.Cost*10 > d.Cost {
		t.Errorf("after one node changed: %v, %d effects, cost %d of %d", again.Problems, len(again.Effects), again.Cost, d.Cost)
	}
}

// TestPlacingAmongManyCandidatesWorksUnderTheLimits places three replicas
// among 10,000 candidates under the limits as they are shipped, with what is
// kept of the candidates and without.
func TestPlacingAmongManyCandidatesWorksUnderTheLimits(t *testing.T) {
	t.Chdir("../..")
	p, err := newPlacing(t.Context(), nodeCount)
	if err != nil {
		t.Fatal(err)
	}
	first := p.place(0, p.shared)
	for name, d := range map[string]*eval.Decision{"first": first, "again": p.place(0, p.shared), "nothing kept": p.place(0, nil)} {
		for _, problem := range d.Problems {
			t.Errorf("%s: rule %q: %v", name, problem.Rule, problem.Err)
		}
		if len(d.Effects) != 6 || len(d.Calls) != 6 || len(d.Calls[0].Request.Candidates) != groupCount {
			t.Fatalf("%s: %d effects, %d calls", name, len(d.Effects), len(d.Calls))
		}
		for i, e := range d.Effects {
			if want, got := value.Plain(first.Effects[i].Patch), value.Plain(e.Patch); cmp.Diff(want, got) != "" {
				t.Errorf("%s: effect %d: %s", name, i, cmp.Diff(want, got))
			}
		}
	}
}
