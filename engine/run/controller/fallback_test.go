package controller

import (
	"testing"

	"github.com/edict-dev/edict/engine/run/lifecycle"
)

// TestFellBack: that the last good revision comes into force is told at once, also if the
// newest waits for what it waited for before. Others wait for it, and the status has it.
func TestFellBack(t *testing.T) {
	t.Parallel()
	waits := lifecycle.Report{Event: lifecycle.Blocked, Reason: "no kind"}
	r, _ := running(t, waits)
	told := 0
	c := &controller{id: "p", policies: r.policies, changed: func() { told++ }}
	a := &attempt{ticket: r.policies.Ticket("p")}
	for _, step := range []struct {
		what string
		do   func()
		told int
	}{
		{"it waits as before", func() { c.report(a, waits) }, 0},
		{"it falls back", func() { c.fellBack(a, "good") }, 1},
		{"and waits as before", func() {
			c.report(a, lifecycle.Report{Event: lifecycle.Blocked, InForce: c.current(), Reason: "no kind"})
		}, 1},
		{"it falls back to the same", func() { c.fellBack(a, "good") }, 1},
		{"a controller of before falls back", func() { c.fellBack(&attempt{}, "older") }, 1},
	} {
		if step.do(); told != step.told {
			t.Errorf("%s: it was told %d times, want %d", step.what, told, step.told)
		}
	}
	if got := r.InForce()["p"]; got != "good>"+r.policies.Get("p").Assigned.Unit.Revision() {
		t.Errorf("in force is %s", got)
	}
}
