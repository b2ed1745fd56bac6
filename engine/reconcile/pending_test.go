package reconcile

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
)

// late is a fake writer whose writes do not come back by themselves.
type late struct{ writes int }

func (l *late) Patch(context.Context, apply.Patch) (world.Version, error) {
	l.writes++
	return world.Version{ResourceVersion: "20", Generation: 1}, nil
}
func (*late) Event(context.Context, apply.Event) error     { return nil }
func (*late) Delete(context.Context, apply.Deletion) error { return nil }

func (*late) Live(context.Context, world.ID) (world.Version, string, error) {
	return world.Version{}, "", nil
}
func (*late) Make(context.Context, apply.Manifest) (world.Version, error) {
	return world.Version{}, nil
}

func resource(version string) map[string]any {
	return map[string]any{"apiVersion": "storage.deckhouse.io/v1alpha1", "kind": "DRBDResource", "metadata": map[string]any{"name": "r"}, "spec": map[string]any{"nodeName": "n" + version}}
}

func node(version string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "n", "resourceVersion": version}}
}

// TestAKeyWaitsForItsOwnWrites: after a write the key is not decided about
// before the read model shows that write, whatever wakes it; it does not wait
// for ever.
func TestAKeyWaitsForItsOwnWrites(t *testing.T) {
	t.Parallel()
	b, err := source.Load([]string{filepath.Join("..", "..", "policies", "agent-node-label.yaml")}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := &late{}
	g := NewGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(b.Policies[0])
	feed := func(o map[string]any) {
		for _, s := range g.AllSources() {
			if s.Kind == o["kind"] {
				g.Put(t.Context(), s, o)
			}
		}
	}
	feed(node("10"))
	feed(resource(""))
	key, now := eval.Key{Name: "n"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if r := c.Reconcile(t.Context(), key, now); r.Err != nil || server.writes != 1 {
		t.Fatalf("%v, %d writes", r.Err, server.writes)
	}
	for _, version := range []string{"10", "15"} { // an event from before the write
		feed(node(version))
		if r := c.Reconcile(t.Context(), key, now); r.Decision != nil || !r.Next.After(now) || server.writes != 1 {
			t.Fatalf("at version %s it decides again: %d writes", version, server.writes)
		}
	}
	if r := c.Reconcile(t.Context(), key, now.Add(time.Minute)); r.Decision == nil {
		t.Error("it waits for ever")
	}
	server.writes = 0
	feed(node("20"))
	if r := c.Reconcile(t.Context(), key, now.Add(time.Minute)); r.Decision == nil || server.writes != 1 {
		t.Errorf("after its write came back it decides: %d writes", server.writes)
	}
}

// TestAWriteThatWasUndoneMeanwhile: when a write and its undoing by others come
// back as one, which changes nothing of what was known before the write, the key is
// woken all the same.
func TestAWriteThatWasUndoneMeanwhile(t *testing.T) {
	t.Parallel()
	b, err := source.Load([]string{filepath.Join("..", "..", "policies", "agent-node-label.yaml")}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := &late{}
	g := NewGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(b.Policies[0])
	feed := func(o map[string]any) (woken int) {
		for _, s := range g.AllSources() {
			if s.Kind == o["kind"] {
				woken += len(g.Put(t.Context(), s, o))
			}
		}
		return woken
	}
	feed(node("10"))
	feed(resource(""))
	key, now := eval.Key{Name: "n"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if r := c.Reconcile(t.Context(), key, now); r.Err != nil || server.writes != 1 {
		t.Fatalf("%v, %d writes", r.Err, server.writes)
	}
	for _, step := range []struct {
		version string
		woken   int
	}{{"15", 0}, {"20", 0}, {"21", 1}} { // from before the write, the write itself, and after it
		if woken := feed(node(step.version)); woken != step.woken {
			t.Errorf("at version %s %d keys are woken, want %d", step.version, woken, step.woken)
		}
	}
	if r := c.Reconcile(t.Context(), key, now); r.Decision == nil || server.writes != 2 {
		t.Errorf("it has written %d times, want 2", server.writes)
	}
}
