package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/shards"
)

// TestBrakedBy sums up what the brakes of one replica do.
func TestBrakedBy(t *testing.T) {
	t.Parallel()
	paced := brake.Paced{Policy: "p", Manager: "somebody"}
	for name, tc := range map[string]struct {
		state *brake.State
		want  shards.Braked
	}{
		"nothing":      {nil, shards.Braked{}},
		"only a pause": {&brake.State{Pauses: make([]brake.Pause, 1), Kept: map[brake.Reason]int{brake.RemovalLimit: 2}}, shards.Braked{}},
		"all":          {&brake.State{Paced: []brake.Paced{paced, {}}, Kept: map[brake.Reason]int{brake.Uncertain: 2}}, shards.Braked{Slowed: 2, Slow: paced.String(), Uncertain: 2}},
	} {
		got := BrakedBy(tc.state)
		if diff := cmp.Diff(tc.want, got); diff != "" || got.Any() != (tc.want.Slowed+tc.want.Uncertain > 0) {
			t.Errorf("%s: %v, %s", name, got.Any(), diff)
		}
	}
}

// TestBraked: what the brakes of other replicas do counts, about the revision in force.
func TestBraked(t *testing.T) {
	t.Parallel()
	r, _ := running(t, lifecycle.Report{Event: lifecycle.Activated, InForce: "r"})
	told := func(policy, revision, field string) shards.Replica {
		return shards.Replica{Identity: policy + revision, Troubles: []shards.Trouble{
			{Policy: policy, Revision: revision, Braked: &shards.Braked{Slowed: 1, Slow: field}},
		}}
	}
	r.options.Others = func() []shards.Replica {
		return []shards.Replica{told("p", "r", "a"), told("p", "r", "b"), told("p", "before", "c"), told("q", "r", "d"), {Identity: "well", Troubles: []shards.Trouble{{Policy: "p", Revision: "r"}}}}
	}
	want := shards.Braked{Slowed: 2, Slow: "a"}
	if diff := cmp.Diff(want, r.Braked("p")); diff != "" {
		t.Error(diff)
	}
	if d := r.Degraded("p"); d != nil {
		t.Errorf("the policy fails, too: %+v", d)
	}
}
