package reconcile

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// TestEchoesEnd: a policy that writes for ever asks again when its answers are old, however
// often they were used since.
func TestEchoesEnd(t *testing.T) {
	t.Parallel()
	e := newEchoing(t, askingWith("key.name", "    - {name: count, do: [{labels: {set: {n: \"${string(int(object.metadata.?labels[?'n'].orValue('0')) + 1)}\"}}}]}\n"))
	for i, calls := range []int{1, 1, 1, 1, 2, 2, 2, 2, 3} { // every three seconds
		e.now = noon.Add(time.Duration(i) * 3 * time.Second)
		if r := e.reconcile(calls); len(r.Outcomes) != 1 {
			t.Fatalf("%+v", r)
		}
		e.back()
	}
}

// TestNothingIsKept: of a decision of which not all was written, or that is no longer this
// controller's to make, no answer is kept.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]func(*echoing){
		"a call fails":  func(e *echoing) { e.answers.err = errors.New("no answer") },
		"a write fails": func(e *echoing) { e.server.err = errors.New("no write") },
		"the object is gone": func(e *echoing) {
			for _, s := range e.group.AllSources() {
				e.group.Delete(e.t.Context(), s, "", theNode.Name)
			}
			e.c.known.wakes.take(theNode)
		},
		"another revision took over": func(e *echoing) { e.c.known.revisions.successor = e.c.group.Join(e.c.Policy) },
		"it was removed":             func(e *echoing) { e.group.Remove(e.c) },
		"it was forgotten meanwhile": func(e *echoing) { e.server.during = func() { e.c.forget(theNode, e.c.known.memo(theNode)) } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEchoing(t, placeless)
			tc(e)
			e.c.Reconcile(t.Context(), theNode, e.now)
			if len(e.c.known.echoes.of) > 0 {
				t.Error("it is kept")
			}
		})
	}
	e := newEchoing(t, strings.Replace(labelling, "VALUE", "a", 1))
	if r := e.reconcile(0); len(r.Outcomes) != 1 || len(e.c.known.echoes.of) > 0 {
		t.Errorf("something is kept of a decision that asked nothing: %+v", r)
	}
}

// TestWroteAll: what has to have gone well.
func TestWroteAll(t *testing.T) {
	t.Parallel()
	target := world.MustIdentify(schema.GVK{}, "", "n")
	written := apply.Outcome{Effect: &eval.Effect{Target: target}, Version: world.Version{ResourceVersion: "11"}}
	good := func() Result {
		return Result{Outcomes: []apply.Outcome{written, {Effect: &eval.Effect{Verb: eval.VerbEvent}}}, Decision: &eval.Decision{Calls: []eval.Call{{Response: &expr.Response{}}}}}
	}
	r := good()
	if got, ok := r.wroteAll(); !ok || !slices.Equal(got, []state{{target, "11"}}) {
		t.Errorf("%v, %v", got, ok)
	}
	for name, spoil := range map[string]func(*Result){
		"an error":         func(r *Result) { r.Err = errConflict },
		"a final error":    func(r *Result) { r.Final = errConflict },
		"a problem":        func(r *Result) { r.Decision.Problems = []eval.Problem{{}} },
		"a failed write":   func(r *Result) { r.Outcomes[1].Err = errConflict },
		"a skipped write":  func(r *Result) { r.Outcomes[1].Skipped = true },
		"nothing to do":    func(r *Result) { r.Outcomes[1].Gone = true },
		"a refused write":  func(r *Result) { r.Outcomes[1].Refused = errRefused },
		"a failed call":    func(r *Result) { r.Decision.Calls[0].Err = errConflict },
		"a call unstarted": func(r *Result) { r.Decision.Calls[0].Response = nil },
	} {
		r := good()
		spoil(&r)
		if _, ok := r.wroteAll(); ok {
			t.Errorf("%s is well", name)
		}
	}
}

// TestEchoesAreDropped with what else is known of the key.
func TestEchoesAreDropped(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		drop func(*echoing)
		left int
	}{
		"another revision":  {func(e *echoing) { e.group.Join(e.c.Policy).Adopt(e.c, []eval.Key{theNode}) }, 0},
		"a revision beside": {func(e *echoing) { (&takeover{from: e.c, to: e.group.Join(e.c.Policy)}).owner(theNode) }, 0},
		"removed":           {func(e *echoing) { e.group.Remove(e.c) }, 0},
		"forgotten":         {func(e *echoing) { e.c.forget(theNode, e.c.known.memo(theNode)) }, 0},
		"undone":            {func(e *echoing) { e.backAt(12); e.backAt(13) }, 0},
		"come back":         {func(e *echoing) { e.back() }, 1},
		"decided otherwise": {func(e *echoing) { e.back(); e.namespace(); e.reconcile(2) }, 0},
		"time has passed":   {func(e *echoing) { e.c.known.echoes.put(eval.Key{}, &echo{since: noon, bytes: 1}, noon.Add(patience+1)) }, 1},
		"time has come":     {func(e *echoing) { e.c.known.echoes.put(eval.Key{}, &echo{since: noon}, noon.Add(patience)) }, 2},
		"time has passed for one": {func(e *echoing) {
			e.c.known.echoes.put(eval.Key{Name: "young"}, &echo{since: noon.Add(1)}, noon)
			e.c.known.echoes.put(eval.Key{}, &echo{bytes: 1, since: noon}, noon.Add(patience+1))
		}, 2},
		"there is no room": {func(e *echoing) { e.c.known.echoes.put(eval.Key{}, &echo{since: noon, bytes: eval.MaxAnswers}, noon) }, 1},
		"there is room, now": {func(e *echoing) {
			e.c.known.echoes.put(theNode, &echo{since: noon, bytes: eval.MaxAnswers}, noon)
			e.full()
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEchoing(t, placeless)
			e.reconcile(1)
			if kept := e.c.known.echoes.of[theNode]; kept == nil || kept.bytes < 100 || e.c.known.echoes.bytes != kept.bytes {
				t.Fatalf("%+v is kept, %d bytes in all", kept, e.c.known.echoes.bytes)
			}
			if sum := e.c.known.bytes.keeping + e.c.known.echoes.bytes; int(e.c.known.bytes.retained.Load()) != sum {
				t.Errorf("%d bytes are reported, want %d", e.c.known.bytes.retained.Load(), sum)
			}
			tc.drop(e)
			if len(e.c.known.echoes.of) != tc.left || e.c.known.echoes.bytes > 0 != (tc.left > 0) {
				t.Errorf("%d are left, with %d bytes", len(e.c.known.echoes.of), e.c.known.echoes.bytes)
			}
		})
	}
}

// full checks that what is kept takes all the room there is.
func (e *echoing) full() {
	if e.c.known.echoes.bytes != eval.MaxAnswers {
		e.t.Errorf("%d bytes are kept", e.c.known.echoes.bytes)
	}
}

// TestEchoOfWhatWasMade: a key that is woken because what it has made is gone asks again.
func TestEchoOfWhatWasMade(t *testing.T) {
	t.Parallel()
	e := newEchoing(t, askingWith("key.name", ""))
	made := world.MustIdentify(e.group.AllSources()[0].GVK, "", "made")
	e.reconcile(1)
	e.c.known.writes.set(theNode, pending{since: noon, versions: []written{{id: made, version: "11", created: true}}})
	if got := e.group.Reached(e.group.AllSources()[0], "12"); len(got) != 1 || len(e.c.known.echoes.of) > 0 {
		t.Errorf("woken %v, %d echoes", got, len(e.c.known.echoes.of))
	}
}
