package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// putNode feeds a node, and returns the keys that it wakes.
func putNode(t *testing.T, g *Group, name, version string) (out []eval.Key) {
	t.Helper()
	for _, s := range g.AllSources() {
		for _, w := range g.Put(t.Context(), s, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name, "resourceVersion": version, "labels": map[string]any{"v": version}}}) {
			out = append(out, w.Key)
		}
	}
	return out
}

func named(names ...string) func(eval.Key) bool {
	return func(key eval.Key) bool { return slices.Contains(names, key.Name) }
}

// TestOwnedKeys: only keys that this process decides about are woken; those that it takes
// over are all queued, as those of a first list, and nothing is known of those that it
// has given away.
func TestOwnedKeys(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, `  rules:
    - name: count
      do:
        - remember: {name: seen, value: '${initial ? "initial" : "later"}'}
`)
	g := NewGroup(world.NewStore(), &late{}, b.Schemas)
	own := []string{"a"}
	g.Owns = func(_ *plan.Policy, key eval.Key) bool { return slices.Contains(own, key.Name) }
	c := g.Add(p)
	var woken []eval.Key
	for _, name := range []string{"a", "b", "c"} {
		woken = append(woken, putNode(t, g, name, "1")...)
	}
	if diff := cmp.Diff([]eval.Key{{Name: "a"}}, woken); diff != "" {
		t.Error("woken:", diff)
	}
	own = []string{"a", "b", "c"}
	taken := c.Acquire(t.Context(), named("b", "c"))
	if diff := cmp.Diff([]eval.Key{{Name: "b"}, {Name: "c"}}, taken); diff != "" {
		t.Error("taken over:", diff)
	}
	for _, key := range append(taken, eval.Key{Name: "a"}) {
		if r := c.Reconcile(t.Context(), key, noon); r.Err != nil || r.Final != nil {
			t.Fatal(r.Err, r.Final)
		}
	}
	remembered := func(name string) string {
		v, ok := c.known.memories.values(eval.Key{Name: name})["seen"]
		if !ok {
			return ""
		}
		return fmt.Sprint(v)
	}
	if a, b := remembered("a"), remembered("b"); !strings.Contains(a, "later") || !strings.Contains(b, "initial") {
		t.Errorf("the keys were decided about as %q and %q", a, b)
	}
	own = []string{"a"}
	c.Release(named("b", "c"))
	if remembered("a") == "" || remembered("b") != "" || len(c.known.states) != 1 || !c.known.states[eval.Key{Name: "a"}].last.decided || c.known.isInitial(eval.Key{Name: "b"}) {
		t.Errorf("of a %q is known, of b %q, with %d states", remembered("a"), remembered("b"), len(c.known.states))
	}
	if woken := putNode(t, g, "b", "2"); len(woken) > 0 {
		t.Errorf("%v are woken, which were given away", woken)
	}
	if diff := cmp.Diff([]eval.Key{{Name: "b"}}, c.Acquire(t.Context(), named("b"))); diff != "" {
		t.Error("taken over again:", diff)
	}
}

// TestNotInForce: a revision that has not begun takes nothing over: it queues its keys
// when it begins.
func TestNotInForce(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, strings.Replace(labelling, "VALUE", "a", 1))
	g := NewGroup(world.NewStore(), &late{}, b.Schemas)
	c := g.Join(p)
	put(t, g, "a", "1", nil)
	if keys := c.Acquire(t.Context(), named("a")); len(keys) > 0 {
		t.Errorf("it takes over %v", keys)
	}
}

// TestFlushKeys: what is debounced is run for the keys that are given away, and for no
// others.
func TestFlushKeys(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, `  rules:
    - name: mark
      when: object.metadata.labels.v != "0"
      debounce: {key: "${key.name}", window: 1h}
      do: [{annotations: {set: {mark: "${object.metadata.labels.v}"}}}]
`)
	server := &late{}
	g := NewGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	now := noon
	for _, version := range []string{"1", "20", "30"} { // the first run opens the window
		for _, name := range []string{"a", "b"} {
			putNode(t, g, name, version)
			c.Reconcile(t.Context(), eval.Key{Name: name}, now)
		}
		now = now.Add(time.Minute)
	}
	before := server.writes
	if c.Pending() != 2 || before != 2 {
		t.Fatalf("%d runs are pending after %d writes", c.Pending(), before)
	}
	flushed := c.FlushKeys(t.Context(), now, func(ctx context.Context, key eval.Key) (context.Context, bool) {
		return ctx, key.Name == "a"
	})
	if len(flushed) != 1 || flushed[0].Key.Name != "a" || server.writes != before+1 || c.Pending() != 1 {
		t.Errorf("%d keys were flushed with %d writes, %d runs are pending", len(flushed), server.writes-before, c.Pending())
	}
	c.Release(named("a", "b"))
	if c.Pending() != 0 || len(c.known.intents.byName) != 0 || c.known.intents.bytes != 0 {
		t.Errorf("%d runs are pending, %d debounce keys are known with %d bytes", c.Pending(), len(c.known.intents.byName), c.known.intents.bytes)
	}
}

// TestAcquiredForANewRevision: of an object that only the new revision of a rollout has, the
// taking over is noted, too: it is compared before the first step.
func TestAcquiredForANewRevision(t *testing.T) {
	t.Parallel()
	p, b := compiledFor(t, "{apiVersion: v1, kind: Node, selector: zone=a}", strings.Replace(labelling, "VALUE", "old", 1))
	q, _ := compiledFor(t, "{apiVersion: v1, kind: Node}", strings.Replace(labelling, "VALUE", "new", 1))
	g, owns := NewGroup(world.NewStore(), &journal{written: map[string]string{}}, b.Schemas), false
	g.Owns = func(*plan.Policy, eval.Key) bool { return owns }
	base, next := g.Add(p), g.Join(q)
	for _, s := range g.AllSources() {
		if s.Selector == "" { // it is in no zone
			g.Put(t.Context(), s, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "n", "resourceVersion": "1"}})
		}
	}
	r, keys := NewRollout(base, next, steps(t, "[{percent: 20}]").Share(0), noon)
	owns = true
	taken := base.Acquire(t.Context(), base.Owns)
	if len(keys) != 0 || len(taken) != 1 || r.Report().Todo != 1 {
		t.Errorf("at the beginning %v, taken over %v, %d are to do", keys, taken, r.Report().Todo)
	}
	r.Take(taken[0]).Reconcile(t.Context(), taken[0], noon)
	if report := r.Report(); report.Todo != 0 || report.Disagreements != 1 {
		t.Errorf("compared: %+v", report)
	}
}
