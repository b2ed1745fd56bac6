package policies

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/fixture"
)

// otherSteps are steps as inSteps, with another limit.
var otherSteps = strings.Replace(inSteps, "20", "50", 1)

const (
	brokenText      = "${nothing.at.all}"
	unreadableSteps = "steps: 5%"
)

// edits is a ConfigMap that is edited in an order that a seed chooses, and what should
// be in force by then.
type edits struct {
	*rand.Rand
	*rolled
	log []string

	text, mode, spec string
	// fails is whether the test beside the policy fails.
	fails bool
	// inForce is the text in force, stopped reports that the rollout of the present one
	// has stopped.
	inForce string
	stopped bool
	// were are the texts that have come into force, the newest last.
	were []string
}

func newEdits(t *testing.T, seed uint64) *edits {
	t.Helper()
	e := &edits{Rand: rand.New(rand.NewPCG(seed, 1)), rolled: newRolled(t), text: "old"}
	e.keeps = true
	return e
}

func (e *edits) note(format string, args ...any) {
	e.log = append(e.log, fmt.Sprintf(format, args...))
}

func (e *edits) configMap() *source.ConfigMap {
	m := fixture.Labelling(e.text)
	m.Mode, m.Rollout = e.mode, e.spec
	if e.fails {
		m.Data["p.test.yaml"] = strings.Replace(marked, "VALUE", "another value", 1)
	}
	return m
}

// rejected reports whether the ConfigMap has an error.
func (e *edits) rejected() bool {
	return e.text == brokenText || e.mode != "" || e.spec == unreadableSteps || e.fails
}

// want returns what should run, and what is in force then.
func (e *edits) want() (runs, inForce string) {
	switch {
	case e.rejected() || e.stopped:
		return e.inForce, e.inForce
	case e.spec == "" || e.inForce == "" || e.text == e.inForce || e.wasInForce(e.text):
		return e.text, e.text
	default:
		return e.text + " beside " + e.inForce, e.inForce
	}
}

// check looks at the ConfigMap, and compares what runs with what should.
func (e *edits) check() {
	e.t.Helper()
	runs, inForce := e.want()
	if runs == "" {
		runs = "nothing"
	}
	if got := e.lookAt(e.configMap()); got != runs {
		e.t.Fatalf("%s runs, want %s, after:\n  %s", got, runs, strings.Join(e.log, "\n  "))
	}
	if e.inForce = inForce; runs == e.text && !e.rejected() {
		e.comesIntoForce()
	}
}

// wasInForce reports whether a text was in force, as far as the history goes back.
func (e *edits) wasInForce(text string) bool {
	kept := slices.ContainsFunc(e.history.entries["p"], func(one *history.Entry) bool {
		return one.Result == history.Active && one.Revision == fixture.Labelling(text).Read().Units[0].Revision()
	})
	return slices.Contains(e.were, text) && kept
}

// comesIntoForce notes that the present text is in force.
func (e *edits) comesIntoForce() {
	e.inForce = e.text
	if n := len(e.were); n == 0 || e.were[n-1] != e.text {
		e.were = append(e.were, e.text)
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// edit changes one thing.
func (e *edits) edit() {
	text, spec := e.text, e.spec
	switch e.IntN(8) {
	case 0, 1:
		e.text = pick(e.Rand, "old", "new", "newer", brokenText)
	case 2, 3:
		e.spec = pick(e.Rand, "", inSteps, otherSteps, unreadableSteps)
	case 4:
		e.mode = pick(e.Rand, "", "Shadwo")
	case 5:
		e.fails = !e.fails
	case 6:
		e.rollOut(e.IntN(2) == 0)
		return
	default:
		e.note("restart")
		e.lead(e.t, nil)
		return
	}
	e.stopped = e.stopped && e.text == text && e.spec == spec
	e.note("text %q, mode %q, steps %q, a test fails: %t", e.text, e.mode, e.spec, e.fails)
}

// rollOut lets the rollout come to its end, if there is one: it stops or is over.
func (e *edits) rollOut(stops bool) {
	now := e.assigner.rollouts.active["p"]
	if now == nil || now.status.State == rollout.Stopped {
		return
	}
	e.decided(0)
	for range e.IntN(3) {
		e.tick(time.Hour)
	}
	if stops {
		e.note("the rollout stops at step %d", now.status.Step)
		e.rolled.steps.report.Errors = 1
		e.tick(time.Second)
		e.stopped = true
		return
	}
	for !now.finished {
		e.tick(time.Hour)
	}
	e.note("the rollout is over")
	e.comesIntoForce()
}

// TestEditsInAnyOrder: whatever is edited in which order, a rejected edit leaves in
// force what was in force before, and a good one comes into force, at once or in steps.
func TestEditsInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(budget.Of(5, 20)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			e := newEdits(t, seed)
			e.check()
			for range 40 {
				e.edit()
				e.check()
			}
		})
	}
}

// TestUnknownModeAfterARestart: it has no effect either when another process leads, which
// does what was done: it does not begin to enforce what was off.
func TestUnknownModeAfterARestart(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "Disabled", "Shadow"} {
		r := newRolled(t)
		r.keeps = true
		edit := func(mode string) string {
			m := fixture.Labelling("old")
			m.Mode = mode
			return r.lookAt(m)
		}
		edit("")
		before := edit(mode)
		r.lead(t, nil)
		if now := edit("Shadwo"); now != before {
			t.Errorf("after the mode %q, under which %s ran, %s runs", mode, before, now)
		}
		if now := edit(""); now != "old" {
			t.Errorf("%s runs when the mode is right again", now)
		}
	}
}
