package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/shards"
	"github.com/edict-dev/edict/test/fixture"
)

// changedIn is a history in which each policy was last changed with a version.
func changedIn(version string) func(string) string { return func(string) string { return version } }

// TestOthers: which replicas have not the same in force, as far as they say what they have.
func TestOthers(t *testing.T) {
	t.Parallel()
	active := lifecycle.Report{Event: lifecycle.Activated, InForce: "r"}
	waits := []shards.Trouble{{Policy: "p", Revision: "r", Idle: "no kind"}}
	for name, tc := range map[string]struct {
		id     string
		report lifecycle.Report
		told   shards.Replica
		want   []Other
	}{
		"the same":                           {"p", active, shards.Replica{InForce: map[string]string{"p": "r", "q": "1"}}, nil},
		"another revision":                   {"p", active, shards.Replica{InForce: map[string]string{"p": "before"}}, []Other{{Replica: "a", Revisions: shards.Revisions{InForce: "before"}}}},
		"nothing":                            {"p", active, shards.Replica{InForce: map[string]string{}}, []Other{{Replica: "a", Revisions: shards.Revisions{}}}},
		"another one is loaded":              {"p", active, shards.Replica{InForce: map[string]string{"p": "r>next"}}, []Other{{Replica: "a", Revisions: shards.Revisions{InForce: "r", Next: "next"}}}},
		"the same, by what is in force now":  {"p", active, shards.Replica{Looked: "7", InForce: map[string]string{"p": "r"}}, nil},
		"the same, by what was before":       {"p", active, shards.Replica{Looked: "6", InForce: map[string]string{"p": "r"}}, []Other{{Replica: "a", Revisions: shards.Revisions{InForce: "r"}, Behind: true}}},
		"another one, by what was before":    {"p", active, shards.Replica{Looked: "6", InForce: map[string]string{"p": "before"}}, []Other{{Replica: "a", Revisions: shards.Revisions{InForce: "before"}}}},
		"in Shadow mode, by what was before": {"p@shadow", active, shards.Replica{Looked: "6"}, nil},
		"it does not say":                    {"p", active, shards.Replica{}, nil},
		"it waits":                           {"p", active, shards.Replica{InForce: map[string]string{"p": "before"}, Troubles: waits}, []Other{{Replica: "a", Revisions: shards.Revisions{InForce: "before"}, Why: "no kind"}}},
		"it only says that":                  {"p", active, shards.Replica{Troubles: waits}, []Other{{Replica: "a", Revisions: shards.Revisions{}, Why: "no kind"}}},
		"it waits here, too":                 {"p", lifecycle.Report{Event: lifecycle.Blocked, InForce: "r"}, shards.Replica{InForce: map[string]string{"p": "r"}, Troubles: waits}, nil},
		"it waits for another one":           {"p", lifecycle.Report{Event: lifecycle.Activated, InForce: "next"}, shards.Replica{Troubles: waits}, nil},
		"nothing is in force here":           {"p", lifecycle.Report{Event: lifecycle.Blocked}, shards.Replica{InForce: map[string]string{}, Troubles: []shards.Trouble{{Policy: "p", Idle: "no kind"}}}, nil},
		"it still runs":                      {"gone", active, shards.Replica{InForce: map[string]string{"gone": "r"}}, []Other{{Replica: "a", Revisions: shards.Revisions{InForce: "r"}}}},
		"it runs in Shadow mode":             {"p@shadow", active, shards.Replica{InForce: map[string]string{}}, nil},
		"another policy has it not":          {"p", active, shards.Replica{InForce: map[string]string{"p": "r", "q": "before"}}, nil},
	} {
		r, _ := running(t, tc.report)
		tc.told.Identity, tc.told.Held = "a", []int{1}
		r.options.Others = func() []shards.Replica { return []shards.Replica{tc.told, {Identity: "older"}} }
		if diff := cmp.Diff(tc.want, r.Compare(changedIn("7")).Others(tc.id)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if r.options.Others = nil; r.Compare(changedIn("7")).Others(tc.id) != nil || r.Compare(changedIn("7")).Elsewhere([]string{"p"}) != nil {
			t.Errorf("%s: without other replicas there is something", name)
		}
	}
}

// TestOthersWithoutShards: a replica that holds no shard, such as one that starts, counts
// while it runs another revision, or is about to: it would do so with a shard.
func TestOthersWithoutShards(t *testing.T) {
	t.Parallel()
	for told, want := range map[string]bool{"r": false, "": false, ">r": false, "before": true, ">before": true, "before>r": true, "r>before": true} {
		r, _ := running(t, lifecycle.Report{Event: lifecycle.Activated, InForce: "r"})
		r.options.Others = func() []shards.Replica {
			return []shards.Replica{{Identity: "a", InForce: map[string]string{"p": told}}, {Identity: "b", InForce: map[string]string{}}}
		}
		if got := r.Compare(changedIn("7")).Others("p"); (len(got) > 0) != want {
			t.Errorf("of %q there is %v", told, got)
		}
	}
}

// TestOthersInSums: a replica with many policies announces sums. One that has not the same of
// a policy is found, and nobody else.
func TestOthersInSums(t *testing.T) {
	t.Parallel()
	const groups = 64
	for name, tc := range map[string]struct {
		report lifecycle.Report
		there  string
		want   bool
	}{
		"the same":                          {lifecycle.Report{Event: lifecycle.Activated, InForce: "r"}, "r", false},
		"the one before":                    {lifecycle.Report{Event: lifecycle.Activated, InForce: "r"}, "before", true},
		"another one is loaded":             {lifecycle.Report{Event: lifecycle.Activated, InForce: "r"}, "r>next", true},
		"nothing":                           {lifecycle.Report{Event: lifecycle.Activated, InForce: "r"}, "", true},
		"an edit waits here":                {lifecycle.Report{Event: lifecycle.Blocked, InForce: "r"}, "r", false},
		"it was never in force, here too":   {lifecycle.Report{Event: lifecycle.Blocked}, "", false},
		"it has ended here, and runs there": {lifecycle.Report{Event: lifecycle.Blocked}, "r", true},
	} {
		r, _ := running(t, tc.report)
		sums := shards.SumsOf(map[string]string{"p": tc.there}, groups)
		r.options.Others = func() []shards.Replica {
			return []shards.Replica{{Identity: "a", Held: []int{1}, Sums: sums}, {Identity: "older"}}
		}
		var want []Other
		if tc.want {
			want = []Other{{Replica: "a", Grouped: true}}
		}
		if diff := cmp.Diff(want, r.Compare(changedIn("7")).Others("p")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if ids := r.Compare(changedIn("7")).Elsewhere([]string{"p"}); (len(ids) > 0) != tc.want {
			t.Errorf("%s: elsewhere %v", name, ids)
		}
		if others := r.Compare(changedIn("7")).Others("of-another-group"); others != nil {
			t.Errorf("%s: another policy: %v", name, others)
		}
	}
}

// TestInForce: what a replica says of the policies that run in it. A revision that is in
// force and about to be replaced is not taken for the one that is wanted.
func TestInForce(t *testing.T) {
	t.Parallel()
	assigned := fixture.Labelling("a").Read().Units[0].Revision()
	for name, tc := range map[string]struct {
		report lifecycle.Report
		stop   bool
		want   string
	}{
		"it runs":                      {lifecycle.Report{Event: lifecycle.Activated, InForce: assigned}, false, assigned},
		"the one before runs":          {lifecycle.Report{Event: lifecycle.Blocked, InForce: "before"}, false, "before>" + assigned},
		"nothing runs":                 {lifecycle.Report{Event: lifecycle.Blocked}, false, ">" + assigned},
		"it stops":                     {lifecycle.Report{Event: lifecycle.Activated, InForce: assigned}, true, assigned},
		"it stops before it ever runs": {lifecycle.Report{Event: lifecycle.Blocked}, true, ""},
	} {
		r, _ := running(t, tc.report)
		if tc.stop {
			r.policies.Stop("p")
		}
		got := r.InForce()
		if len(got) > 1 || got["p"] != tc.want {
			t.Errorf("%s: %v, want %q", name, got, tc.want)
		}
		if parsed := shards.ParseRevisions(got["p"]); parsed.String() != tc.want {
			t.Errorf("%s: %v is parsed", name, parsed)
		}
	}
}
