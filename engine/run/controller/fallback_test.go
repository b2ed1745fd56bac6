package controller

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/test/fixture"
)

// TestFellBack: that the last good revision comes into force is told at once, also if the
// newest waits for what it waited for before. Others wait for it, and the status has it.
func TestFellBack(t *testing.T) {
	t.Parallel()
	waits := lifecycle.Report{Event: lifecycle.Blocked, Reason: "no kind"}
	registry := lifecycle.NewRegistry()
	registry.Illegal = func(err error) { t.Error(err) }
	unit := fixture.Labelling("a").Units[0]
	registry.Assign("p", &lifecycle.Revision{Unit: unit, Plan: fixture.Checker().Text(t.Context(), unit).Plan}, false)
	registry.Report("p", registry.Ticket("p"), waits, time.Now())
	told := 0
	c := &controller{id: "p", policies: registry, changed: func(policy string) {
		if told++; policy != "p" {
			t.Errorf("it is told of %s", policy)
		}
	}}
	a := &attempt{ticket: registry.Ticket("p")}
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
	if got := registry.Get("p").Report.InForce; got != "good" {
		t.Errorf("in force is %s", got)
	}
}
