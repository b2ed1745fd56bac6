package lifecycle

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	allPhases = []Phase{Unknown, Testing, Refused, Disabled, Loading, Waiting, RollingOut, Running, Stopping, Stopped}
	allEvents = []Event{TestsPending, Rejected, SwitchedOff, Assigned, Substituted, Removed, Blocked, Begun, Activated, Failed, Ended}
)

// illegal is what the table below has in place of a phase that follows.
const illegal = "-"

// TestLifecycleTransitions states every transition: the columns are allEvents.
func TestLifecycleTransitions(t *testing.T) {
	t.Parallel()
	table := map[Phase][]Phase{
		Unknown:    {Testing, Refused, Disabled, Loading, Loading, illegal, illegal, illegal, illegal, illegal, illegal},
		Testing:    {Testing, Refused, Disabled, Loading, Testing, Stopping, Testing, Testing, Testing, Testing, Testing},
		Refused:    {Testing, Refused, Disabled, Loading, Refused, Stopping, Refused, Refused, Refused, Refused, Refused},
		Disabled:   {Testing, Refused, Disabled, Loading, Loading, Stopping, Disabled, Disabled, Disabled, Disabled, Disabled},
		Loading:    {Testing, Refused, Disabled, Loading, Loading, Stopping, Waiting, RollingOut, Running, Refused, illegal},
		Waiting:    {Testing, Refused, Disabled, Loading, Loading, Stopping, Waiting, RollingOut, Running, Refused, illegal},
		RollingOut: {Testing, Refused, Disabled, Loading, Loading, Stopping, illegal, illegal, illegal, illegal, illegal},
		Running:    {Testing, Refused, Disabled, Loading, Loading, Stopping, illegal, illegal, illegal, illegal, illegal},
		Stopping:   {Testing, Refused, Disabled, Loading, Loading, illegal, Stopping, Stopping, Stopping, Stopping, Stopped},
		Stopped:    {Testing, Refused, Disabled, Loading, Loading, illegal, illegal, illegal, illegal, illegal, illegal},
	}
	for _, from := range allPhases {
		var got []Phase
		for _, event := range allEvents {
			to, ok := next(from, event)
			if !ok {
				to = illegal
			}
			got = append(got, to)
		}
		if d := cmp.Diff(table[from], got); d != "" {
			t.Errorf("from %q, -want +got:\n%s", from, d)
		}
	}
}

// TestLifecycleTablesNamePhases: no phase and no event is missing in the test, and
// none in the table is misspelt.
func TestLifecycleTablesNamePhases(t *testing.T) {
	t.Parallel()
	for from, events := range transitions {
		if !slices.Contains(allPhases, from) {
			t.Errorf("phase %q is not tested", from)
		}
		for event, to := range events {
			if !slices.Contains(allEvents, event) || !slices.Contains(allPhases, to) {
				t.Errorf("%q or %q is not tested", event, to)
			}
		}
	}
	for event, to := range newText {
		if !slices.Contains(allEvents, event) || !slices.Contains(allPhases, to) {
			t.Errorf("%q or %q is not tested", event, to)
		}
	}
}

// TestLifecycleReportsIllegalTransitions: they change nothing.
func TestLifecycleReportsIllegalTransitions(t *testing.T) {
	t.Parallel()
	var got error
	r := NewRegistry()
	r.Illegal = func(err error) { got = err }
	p := &Policy{Phase: Running}
	r.fire("p", p, Blocked)
	var illegal *IllegalTransition
	if !errors.As(got, &illegal) || *illegal != (IllegalTransition{ID: "p", From: Running, Event: Blocked}) || p.Phase != Running {
		t.Errorf("%v, in phase %s", got, p.Phase)
	}
}
