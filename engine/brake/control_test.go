package brake

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/plan"
)

// TestPausesEndWithTheirPolicy: of a policy that was deleted nothing stays paused, also if
// it did not run in this process, and one with the same text begins anew.
func TestPausesEndWithTheirPolicy(t *testing.T) {
	t.Parallel()
	b := New(Settings{}, nil)
	pause := func(policy string) Pause { return Pause{Policy: policy, Revision: "1", Reason: RemovalLimit} }
	for _, policy := range []string{"deleted", "there"} {
		b.Restore([]Pause{pause(policy)})
		b.Policy(policy).Adopt(&plan.Policy{Name: policy, Revision: "1"})
	}
	b.Restore([]Pause{pause("never ran"), pause("waits")})
	b.Retain(func(policy string) bool { return policy == "there" || policy == "waits" })
	for policy, want := range map[string]int{"deleted": 0, "never ran": 0, "there": 1, "waits": 1} {
		b.Policy(policy).Adopt(&plan.Policy{Name: policy, Revision: "1"})
		if got := len(b.Pauses(policy)); got != want {
			t.Errorf("%s: %d pauses, want %d", policy, got, want)
		}
	}
	news := b.News()
	if len(news) != 2 || news[0].Kind != Resumed || !strings.Contains(news[0].Text, "is no longer paused: the policy was deleted") {
		t.Errorf("news: %+v", news)
	}
	b.Retain(func(string) bool { return true })
	if again := b.News(); len(again) > 0 {
		t.Errorf("news: %+v", again)
	}
}

// TestResumeLeavesLaterPauses: an instant that each new leader reads again ends no pause that began
// after it.
func TestResumeLeavesLaterPauses(t *testing.T) {
	t.Parallel()
	b := New(Settings{}, nil)
	b.Restore([]Pause{
		{Policy: "p", Reason: RemovalLimit, Since: noon.Add(-time.Minute)},
		{Policy: "p", Reason: ChangeLimit, Since: noon.Add(time.Minute)},
	})
	b.Resume("p", "spec.resumedAt", noon)
	if got := b.Pauses("p"); len(got) != 1 || got[0].Reason != ChangeLimit {
		t.Errorf("pauses %+v, want the one after the instant", got)
	}
}
