package reconcile

import (
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/world"
)

// withChild has a child for each node, which may be refused, and a rule.
const withChild = "  children:\n    - {name: c, apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: \"c-${key.name}\"}}}\n"

// TestFlushBesideARefusedChild: what waits is run when the controller stops, although a
// child is refused.
func TestFlushBesideARefusedChild(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, withChild+"  rules:\n    - {name: r, debounce: {key: \"${key.name}\", window: 10m}, do: [{labels: {set: {done: \"yes\"}}}]}\n")
	server := &journal{written: map[string]string{}, forbids: true}
	g := newGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	put(t, g, "n0", "1", nil)
	c.Reconcile(t.Context(), c.Keys()[0], noon)
	if len(server.written) > 0 {
		t.Fatal("what is below a refused child was written at once")
	}
	_, dropped := c.Flush(t.Context(), noon.Add(2*minRejected))
	if dropped != 0 || !strings.Contains(server.written["n0"], "done") {
		t.Errorf("%d dropped, written: %v", dropped, server.written)
	}
}

// TestRolloutOfRefusedChildren: what both revisions are refused is not the fault of the new
// one, also while it is left out.
func TestRolloutOfRefusedChildren(t *testing.T) {
	t.Parallel()
	r := newRolling(t, withChild, withChild+"  metrics: [{name: m_total, of: effect.written}]\n", "[{percent: 100}]", 4)
	r.server.forbids = true
	keys := r.Advance(r.spec.Share(1))
	for range 3 {
		r.reconcile(keys)
		if got := r.Report(); got.Errors != 0 || got.Disagreements != 0 {
			t.Errorf("%+v", got)
		}
	}
}

// TestRefusedIsTriedAgain: what was refused is left out for a while, whatever wakes the key,
// and made when that is over.
func TestRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, withChild)
	server := &journal{written: map[string]string{}, forbids: true}
	g := newGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	put(t, g, "n0", "1", nil)
	key := c.Keys()[0]
	if r := c.Reconcile(t.Context(), key, noon); r.Err == nil || !r.Next.Equal(noon) {
		t.Errorf("after a refusal it is next decided about at %v: %v", r.Next, r.Err)
	}
	server.forbids = false
	for at, want := range map[time.Duration]int{0: 0, minRejected - 1: 0} {
		if r := c.Reconcile(t.Context(), key, noon.Add(at)); len(r.Outcomes) != want || r.Err == nil {
			t.Errorf("after %v: %d writes, %v", at, len(r.Outcomes), r.Err)
		}
	}
	if r := c.Reconcile(t.Context(), key, noon.Add(minRejected)); len(r.Outcomes) != 1 || r.Err != nil {
		t.Errorf("after the time: %d writes, %v", len(r.Outcomes), r.Err)
	}
}

// TestEndlessConflict: a conflict is nothing to report, unless the same state of the object is
// in conflict for longer than its watch may take to show a newer one.
func TestEndlessConflict(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, "  rules:\n    - {name: r, do: [{labels: {set: {done: \"yes\"}}}]}\n")
	server := &journal{written: map[string]string{}, moved: true}
	g := newGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	put(t, g, "n0", "1", nil)
	key := c.Keys()[0]
	at := func(after time.Duration, quiet bool) {
		t.Helper()
		if r := c.Reconcile(t.Context(), key, noon.Add(after)); r.Err == nil || r.Quiet != quiet {
			t.Errorf("after %v: quiet is %v, %v", after, r.Quiet, r.Err)
		}
	}
	at(0, true)
	at(patience, true)
	at(patience+1, false)
	put(t, g, "n0", "2", nil)
	at(2*patience, true)
	at(3*patience+1, false)
}

// TestRefusedBacksOff: a child that is refused again and again is sent less and less often,
// however often the key is evaluated.
func TestRefusedBacksOff(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, withChild)
	g := newGroup(world.NewStore(), &journal{written: map[string]string{}, forbids: true}, b.Schemas)
	c := g.Add(p)
	put(t, g, "n0", "1", nil)
	sent := 0
	for i := range 600 {
		sent += len(c.Reconcile(t.Context(), c.Keys()[0], noon.Add(time.Duration(i)*time.Second)).Outcomes)
	}
	if sent < 5 || sent > 13 {
		t.Errorf("it was sent %d times in ten minutes", sent)
	}
}
