package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/run/brakes"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/shards"
	"github.com/edict-dev/edict/test/fixture"
)

func fails(n int, name, text string) shards.Trouble {
	return shards.Trouble{Policy: "p", Revision: "r", Failing: n, Objects: 10, Kind: "Node", Name: name, Error: text}
}

// TestDegraded sums up what fails in several replicas.
func TestDegraded(t *testing.T) {
	t.Parallel()
	stopped := func(why string) shards.Trouble { return shards.Trouble{Stopped: why} }
	for name, tc := range map[string]struct {
		all  []shards.Trouble
		want *Degraded
	}{
		"nothing":       {[]shards.Trouble{{Objects: 10}, {}}, nil},
		"in one":        {[]shards.Trouble{fails(2, "b", "odd"), {}}, &Degraded{Reason: "odd", Text: "2 of 10 objects fail: Node b: odd"}},
		"in another":    {[]shards.Trouble{{}, fails(2, "b", "odd")}, &Degraded{Reason: "odd", Text: "2 of 10 objects fail: Node b: odd"}},
		"in two":        {[]shards.Trouble{fails(2, "b", "odd"), fails(3, "a", "a is worse")}, &Degraded{Reason: " is worse", Text: "5 of 10 objects fail: Node a: a is worse"}},
		"more than are": {[]shards.Trouble{fails(6, "b", "odd"), fails(5, "a", "odd")}, &Degraded{Reason: "odd", Text: "11 of 11 objects fail: Node a: odd"}},
		"one permission is missing in two": {
			[]shards.Trouble{stopped("patch on nodes"), stopped("patch on nodes")}, &Degraded{Reason: "writes are stopped", Text: "writes are stopped: patch on nodes"},
		},
		"in one a permission is missing, in another something fails": {
			[]shards.Trouble{fails(1, "a", "odd"), stopped("patch on nodes")},
			&Degraded{Reason: "writes are stopped odd", Text: "writes are stopped: patch on nodes\n1 of 10 objects fail: Node a: odd"},
		},
		"the same watches":  {[]shards.Trouble{{Watches: "stale\nnot served"}, {Watches: "stale"}}, &Degraded{Reason: "stale not served", Text: "stale\nnot served"}},
		"two do not run it": {[]shards.Trouble{{}, {Idle: "no kind"}, {Idle: "no kind"}}, nil},
	} {
		if diff := cmp.Diff(tc.want, degraded(tc.all)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// running is a runtime in which a policy has reported something.
func running(t *testing.T, report lifecycle.Report) (r *Runtime, h *health) {
	t.Helper()
	unit := fixture.Labelling("a").Read().Units[0]
	rev := &lifecycle.Revision{Unit: unit, Plan: fixture.Checker().Text(unit).Plan}
	r = &Runtime{policies: lifecycle.NewRegistry(), controllers: map[string]*controller{}, brakes: brakes.New(brakes.Options{})}
	r.policies.Illegal = func(err error) { t.Error(err) }
	r.policies.Assign("p", rev, false)
	r.policies.Report("p", r.policies.Ticket("p"), report, time.Now())
	h = newHealth("p")
	r.controllers["p"] = &controller{id: "p", health: h}
	return r, h
}

// TestElsewhere: what fails in another replica counts for the revision in force.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		report lifecycle.Report
		told   shards.Trouble
		want   *Degraded
	}{
		"it fails there":          {lifecycle.Report{Event: lifecycle.Activated, InForce: "r"}, fails(1, "a", "odd"), &Degraded{Reason: "odd", Text: "1 of 10 objects fail: Node a: odd"}},
		"another revision failed": {lifecycle.Report{Event: lifecycle.Activated, InForce: "next"}, fails(1, "a", "odd"), nil},
		"nothing is in force":     {lifecycle.Report{Event: lifecycle.Blocked}, shards.Trouble{Policy: "p", Idle: "no kind"}, nil},
		"another policy fails":    {lifecycle.Report{Event: lifecycle.Activated, InForce: "r"}, shards.Trouble{Policy: "q", Revision: "r", Failing: 1}, nil},
	} {
		r, _ := running(t, tc.report)
		more := 0
		r.options.Others = func() []shards.Replica {
			return []shards.Replica{{Identity: "silent"}, {Identity: "a", Troubles: []shards.Trouble{tc.told}, More: more}}
		}
		if diff := cmp.Diff(tc.want, r.Degraded("p")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		more = 2
		if d := r.Degraded("p"); (d == nil) != (tc.want == nil) || d != nil && (d.Reason == tc.want.Reason) {
			t.Errorf("%s, and more than is told: %+v", name, d)
		}
		if r.options.Others = nil; r.Degraded("p") != nil {
			t.Errorf("%s: without other replicas there is something", name)
		}
	}
}

// TestTroubles: what a replica tells of its policies.
func TestTroubles(t *testing.T) {
	t.Parallel()
	assigned := fixture.Labelling("a").Read().Units[0].Revision()
	for name, tc := range map[string]struct {
		report  lifecycle.Report
		blocked string
		want    []shards.Trouble
	}{
		"nothing":                 {lifecycle.Report{Event: lifecycle.Activated, InForce: "r"}, "", nil},
		"a permission is missing": {lifecycle.Report{Event: lifecycle.Activated, InForce: "r"}, "patch on nodes", []shards.Trouble{{Policy: "p", Revision: "r", Stopped: "patch on nodes"}}},
		"it waits":                {lifecycle.Report{Event: lifecycle.Blocked, InForce: "before", Reason: "no kind"}, "", []shards.Trouble{{Policy: "p", Revision: assigned, Idle: "no kind"}}},
		"it does not fit":         {lifecycle.Report{Event: lifecycle.Failed, Reason: "misfit"}, "", []shards.Trouble{{Policy: "p", Revision: assigned, Idle: "misfit"}}},
	} {
		r, h := running(t, tc.report)
		if h.blocked = tc.blocked; tc.blocked != "" {
			h.skips(named("a"))
		}
		if diff := cmp.Diff(tc.want, r.Troubles()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
