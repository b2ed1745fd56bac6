package policies

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

// newJournals returns a function that makes the journals of processes which share a
// cluster.
func newJournals(t *testing.T) func(self types.UID) *journal {
	t.Helper()
	client := fake.NewClientset()
	return func(self types.UID) *journal {
		j := newJournal(client, "ns", fixture.Log())
		j.self = self
		if err := j.read(t.Context()); err != nil {
			t.Fatal(err)
		}
		return j
	}
}

func unitOf(t *testing.T, value string) *source.Unit {
	t.Helper()
	return fixture.ConfigMap("p", "", map[string]string{"p.yaml": fixture.Policy("p", value)}).Read().Units[0]
}

// TestQuarantine: a text that was new when its process ended is left alone for a
// while, by every process after it; another text is not.
func TestQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		process := newJournals(t)
		bomb, harmless := unitOf(t, "bomb"), unitOf(t, "harmless")
		wait := quarantine
		for deaths := 1; deaths <= 3; deaths++ {
			process("dies").begin(t.Context(), bomb)
			next := process("next")
			for _, j := range []*journal{next, process("the one after")} {
				problem := j.quarantined(bomb, time.Now())
				if problem == nil || !strings.Contains(problem.Message, times(deaths)) || !strings.Contains(problem.Hint, "edict rollback p") {
					t.Fatalf("after %d deaths: %v", deaths, problem)
				}
				if problem := j.quarantined(harmless, time.Now()); problem != nil {
					t.Errorf("another text is quarantined: %v", problem)
				}
			}
			<-time.After(wait)
			if problem := next.quarantined(bomb, time.Now()); problem != nil {
				t.Errorf("for ever: %v", problem)
			}
			wait *= 6
		}
		if problem := process("x").quarantined(bomb, time.Now()); problem != nil {
			t.Errorf("that a process begins is no death: %v", problem)
		}
	})
}

// TestTheJournalForgets: what is known of texts that nobody tried again does not stay for
// ever, and however often a text has ended a process, its quarantine ends.
func TestTheJournalForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		process := newJournals(t)
		process("dies").begin(t.Context(), unitOf(t, "bomb"))
		if j := process("next"); len(j.dead) != 1 {
			t.Fatalf("%v", j.dead)
		}
		<-time.After(quarantine + forgotten - time.Minute)
		if j := process("later"); len(j.dead) != 1 {
			t.Errorf("it is forgotten within a day: %v", j.dead)
		}
		<-time.After(time.Hour)
		if j := process("much later"); len(j.dead) != 0 {
			t.Errorf("it is not forgotten: %v", j.dead)
		}
	})
	if at := (attempt{Deaths: 100}).until(); !at.Equal(time.Time{}.Add(maxQuarantine)) {
		t.Errorf("the quarantine after 100 deaths ends at %v", at)
	}
}

// TestProved: what has run for a while, or is refused, or was tried by a process
// that ended as it should, is not quarantined.
func TestProved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := unitOf(t, "x")
		runs := &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: u, Plan: &plan.Policy{}}}
		refuses := &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: u}}
		for name, tc := range map[string]struct {
			newest *lifecycle.CheckResult
			report lifecycle.Report
			proves bool
		}{
			"it runs":          {runs, lifecycle.Report{Event: lifecycle.Activated, InForce: u.Revision()}, true},
			"it has not begun": {runs, lifecycle.Report{}, false},
			"refused":          {refuses, lifecycle.Report{}, true},
			"waiting":          {runs, lifecycle.Report{Event: lifecycle.Blocked}, true},
			"gone":             {nil, lifecycle.Report{}, true},
		} {
			process := newJournals(t)
			j := process("a")
			j.begin(t.Context(), u)
			policies := stateOf("p", tc.newest, tc.report)
			j.prove(t.Context(), policies, time.Now())
			if tc.report.InForce != "" && process("b").quarantined(u, time.Now()) == nil {
				t.Errorf("%s: it counts as harmless at once", name)
			}
			j.prove(t.Context(), policies, time.Now().Add(proving))
			if proved := process("c").quarantined(u, time.Now()) == nil; proved != tc.proves {
				t.Errorf("%s: proved is %t", name, proved)
			}
		}
		process := newJournals(t)
		j := process("a")
		j.begin(t.Context(), u)
		if process("a").quarantined(u, time.Now()) != nil {
			t.Error("a process that takes the lead again takes its own notes for those of another")
		}
		j.clear(t.Context())
		if process("b").quarantined(u, time.Now()) != nil {
			t.Error("a process that ends as it should quarantines")
		}
	})
}

// TestJournalThatIsDeleted: notes survive that somebody deletes their object.
func TestJournalThatIsDeleted(t *testing.T) {
	process := newJournals(t)
	j, bomb := process("dies"), unitOf(t, "bomb")
	if err := j.client.AppsV1().ControllerRevisions("ns").Delete(t.Context(), journalName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	j.begin(t.Context(), bomb)
	if process("next").quarantined(bomb, time.Now()) == nil {
		t.Error("a text that ended its process is not quarantined")
	}
}
