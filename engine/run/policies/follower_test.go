package policies

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// TestFollower: a replica that follows runs what the history has in force, not a newer
// text, and nothing of a policy that is disabled or gone.
func TestFollower(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	f := &Follower{policies: lifecycle.NewRegistry(), history: r.store}
	wanted := func(m *source.ConfigMap) string {
		rev := f.wanted("p", source.NewCatalog([]*source.Contents{m.Read()}, nil, nil))
		if rev == nil {
			return ""
		}
		return rev.Unit.Revision()
	}
	if got := wanted(fixture.Labelling("a")); got != "" {
		t.Errorf("a text that nothing is known of runs as %s", got)
	}
	a := r.see(fixture.Labelling("a"), lifecycle.Activated, "").Units["p"].Revision()
	r.see(fixture.Labelling("b"), lifecycle.Failed, a)
	if got := wanted(fixture.Labelling("b")); got != a {
		t.Errorf("%s runs, want %s", got, a)
	}
	c := r.see(fixture.Labelling("c"), lifecycle.Activated, "").Units["p"].Revision()
	if got := wanted(fixture.Labelling("c")); got != c {
		t.Errorf("%s runs, want %s", got, c)
	}
	disabled := fixture.Labelling("c")
	disabled.Mode = "Disabled"
	if got := wanted(disabled); got != "" {
		t.Errorf("a disabled policy runs as %s", got)
	}
	if r.store.keep(t.Context(), source.NewCatalog(nil, nil, nil), lifecycle.NewRegistry()) {
		t.Error("it failed")
	}
	if got := wanted(fixture.Labelling("c")); got != "" {
		t.Errorf("a policy that was gone runs as %s", got)
	}
}

// TestFollowerThatLed: what a replica found in texts while it led is no longer known, so
// that it can stop each policy, in whatever phase it was.
func TestFollowerThatLed(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]lifecycle.Event{
		"it runs": {lifecycle.Activated}, "it waits": {lifecycle.Blocked}, "it loads": nil, "it was refused": {lifecycle.Failed},
	} {
		unit := fixture.Labelling("a").Read().Units[0]
		rev := lifecycle.Revision{Unit: unit, Plan: fixture.Checker().Text(unit).Plan}
		f := &Follower{policies: lifecycle.NewRegistry()}
		f.policies.Illegal = func(err error) { t.Errorf("%s: %v", name, err) }
		f.policies.Check("p", &lifecycle.CheckResult{Revision: rev, Compiled: true})
		f.policies.Assign("p", &rev, false)
		ticket := f.policies.Ticket("p")
		for _, event := range events {
			f.policies.Report("p", ticket, lifecycle.Report{Event: event}, time.Now())
		}
		f.forget()
		if f.policies.Get("p").Assigned == nil {
			t.Errorf("%s: it does not go on", name)
		}
		f.policies.Stop("p")
		f.policies.End("p", ticket)
		if p := f.policies.Get("p"); p.Phase != lifecycle.Stopped || p.Newest != nil {
			t.Errorf("%s: afterwards %s", name, p.Phase)
		}
	}
}

// TestFollowerOfWhatCannotBeRead: another ConfigMap with the same policy has no say while
// that of what runs cannot be read.
func TestFollowerOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	f := &Follower{policies: lifecycle.NewRegistry(), history: r.store}
	a := r.see(aged(2, "m", "", fixture.Policy("p", "a")), lifecycle.Activated, "").Units["p"].Revision()
	c := source.NewCatalog([]*source.Contents{aged(2, "m", "", "]").Read(), aged(1, "other", "Disabled", fixture.Policy("p", "b")).Read()}, nil, nil)
	f.history.hold(c, f.policies)
	if rev := f.wanted("p", c); rev == nil || rev.Unit.Revision() != a {
		t.Errorf("%+v runs", rev)
	}
}

// TestFollowerOfWhatDidNotFit: a revision that did not fit the types of the cluster is tried
// again by those that it publishes now, once. Nobody edits the policy for that.
func TestFollowerOfWhatDidNotFit(t *testing.T) {
	t.Parallel()
	r := newHistorian(t)
	f := &Follower{options: Options{Checker: r.checker}, policies: lifecycle.NewRegistry(), history: r.store}
	c := r.see(fixture.Labelling("a"), lifecycle.Activated, "")
	untyped := f.wanted("p", c).Alone()
	untyped.Typed = false
	for _, step := range []struct {
		rev   *lifecycle.Revision
		event lifecycle.Event
		again bool
	}{{untyped, lifecycle.Blocked, false}, {untyped, lifecycle.Failed, true}, {f.wanted("p", c), lifecycle.Failed, false}} {
		f.policies.Assign("p", step.rev, false)
		f.policies.Report("p", f.policies.Ticket("p"), lifecycle.Report{Event: step.event}, time.Now())
		if again := f.policies.Assign("p", f.wanted("p", c), false); again != step.again {
			t.Errorf("%s, by types: %t: it is tried again: %t", step.event, step.rev.Typed, again)
		}
	}
}
