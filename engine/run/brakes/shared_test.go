package brakes

import (
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/edict-dev/edict/engine/brake"
)

// TestPausesAreShared: a pause of one replica holds for all, is kept while the one that
// keeps the records writes them, and ends for all when a person resumes the policy.
func TestPausesAreShared(t *testing.T) {
	t.Parallel()
	store := newKept(t, fake.NewClientset())
	replica := func(leads bool) *Controller {
		c := store.controller()
		c.options.Leads = func() bool { return leads }
		return c
	}
	leader, other, third := replica(true), replica(false), replica(false)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	look := func() {
		t.Helper()
		for range 2 {
			for _, c := range []*Controller{other, leader, third} {
				now = now.Add(2 * time.Second)
				c.look(t.Context(), now)
				store.show()
			}
		}
	}
	other.brakes.Restore([]brake.Pause{{Policy: "p", Revision: "r", Reason: brake.ChangeLimit, Since: now}})
	look()
	paused := func() (out [3]int) {
		for i, c := range []*Controller{leader, other, third} {
			out[i] = len(c.brakes.Pauses("p"))
		}
		return out
	}
	if got := paused(); got != [3]int{1, 1, 1} {
		t.Fatalf("after a pause of one replica they have %v", got)
	}
	look()
	if r := store.view().records()["p"]; len(r.Pauses) != 1 {
		t.Errorf("the record is %+v", r)
	}
	r := store.view().records()["p"]
	r.Resumed = &brake.Resumption{By: "me", At: now}
	store.set(brake.RecordsName, "p", r.Text())
	leader.look(t.Context(), now.Add(time.Second)) // the others see only what it has written
	store.show()
	look()
	if got := paused(); got != [3]int{0, 0, 0} {
		t.Errorf("after it was resumed they have %v", got)
	}
}
