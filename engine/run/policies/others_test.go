package policies

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/shards"
	"github.com/edict-dev/edict/engine/source"
)

// TestStatusOfReplicas: an edit is not in force before all replicas have it.
func TestStatusOfReplicas(t *testing.T) {
	t.Parallel()
	of := func(mode plan.Mode, report lifecycle.Report) *lifecycle.Policy {
		p := &lifecycle.Policy{Newest: resultOfMode(mode), Report: report}
		if mode != plan.Disabled {
			p.Assigned = &p.Newest.Revision
		}
		return p
	}
	other := func(replica, inForce, why string) controller.Other {
		return controller.Other{Replica: replica, Revisions: shards.ParseRevisions(inForce), Why: why}
	}
	grouped := []controller.Other{{Replica: "b", Grouped: true}}
	const one = "p: the replica b has not the same in force of it, or of a policy that it announces together with it"
	runs := of(plan.Enforce, lifecycle.Report{Event: lifecycle.Activated, InForce: "2"})
	off := of(plan.Disabled, lifecycle.Report{})
	for name, tc := range map[string]struct {
		p      *lifecycle.Policy
		others []controller.Other
		status string
		text   string
		runs   string
		news   bool
	}{
		"all have it":                                   {runs, nil, statusActive, "", "p=2", true},
		"one has another one":                           {runs, []controller.Other{other("b", "1", "")}, statusWaiting, "p: the replica b still runs the revision 1", "p=2", false},
		"two have none":                                 {runs, []controller.Other{other("b", "", ""), other("c", "", "")}, statusWaiting, "p: the replica b does not run it yet\np: the replica c does not run it yet", "p=2", false},
		"one loads it":                                  {runs, []controller.Other{other("b", "1>2", "")}, statusWaiting, "p: the replica b still runs the revision 1", "p=2", false},
		"one loads another one":                         {runs, []controller.Other{other("b", "2>3", "")}, statusWaiting, "p: the replica b loads the revision 3", "p=2", false},
		"disabled, and one loads it":                    {off, []controller.Other{other("b", ">1", "")}, statusWaiting, "p: the replica b still runs it", "", false},
		"one says why":                                  {runs, []controller.Other{other("b", "1", "no kind")}, statusWaiting, "p: the replica b does not run it: no kind", "p=2", true},
		"one has not read it yet":                       {runs, []controller.Other{{Replica: "b", Behind: true, Revisions: shards.Revisions{InForce: "2"}}}, statusWaiting, "p: the replica b has not read yet which revision is in force", "p=2", false},
		"one has not the same":                          {runs, grouped, statusWaiting, one, "p=2", false},
		"disabled, and not the same":                    {off, grouped, statusWaiting, one, "", false},
		"it is waited for here, and not the same there": {of(plan.Enforce, lifecycle.Report{Event: lifecycle.Blocked, Reason: "no kind"}), grouped, statusWaiting, "p: no kind", "", true},
		"it is waited for here, too":                    {of(plan.Enforce, lifecycle.Report{Event: lifecycle.Blocked, Reason: "no kind"}), []controller.Other{other("b", "1", "")}, statusWaiting, "p: no kind", "", true},
		"disabled":                                      {off, nil, statusDisabled, "", "", true},
		"disabled, and one runs it":                     {off, []controller.Other{other("b", "1", ""), other("c", "1", "")}, statusWaiting, "p: the replica b still runs it\np: the replica c still runs it", "p=1", false},
		"the rollout in steps waits for a replica": {
			&lifecycle.Policy{Newest: runs.Newest, Assigned: runs.Assigned, Phase: lifecycle.RollingOut, Report: lifecycle.Report{Event: lifecycle.Begun, InForce: "2"}},
			[]controller.Other{other("b", "1", "")}, statusWaiting, "p: the replica b still runs the revision 1", "p=2", false,
		},
	} {
		var sum tally
		sum.add("p", tc.p)
		sum.addOthers("p", tc.p, tc.others)
		text, _ := sum.text(&source.ConfigMap{})
		if got := sum.status(); got != tc.status || text != tc.text || strings.Join(sum.runs, " ") != tc.runs {
			t.Errorf("%s: %s, %q, and %v run", name, got, text, sum.runs)
		}
		if tc.status == statusWaiting && len(sum.waits) > 0 != tc.news {
			t.Errorf("%s: it is news: %t", name, !tc.news)
		}
	}
}
