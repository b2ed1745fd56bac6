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
func (*late) Evict(context.Context, apply.Deletion) error  { return nil }
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
	g := newGroup(world.NewStore(), server, b.Schemas)
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
	g := newGroup(world.NewStore(), server, b.Schemas)
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

// makes is a fake writer that makes objects, which do not come back by themselves.
type makes struct {
	late
	// there says that the server has what was made, asked counts how often it was
	// asked for that.
	there bool
	asked int
}

func (m *makes) Live(context.Context, world.ID) (world.Version, string, error) {
	m.asked++
	if m.there {
		return world.Version{ResourceVersion: "20"}, "uid", nil
	}
	return world.Version{}, "", nil
}

func (m *makes) Make(context.Context, apply.Manifest) (world.Version, error) {
	m.writes++
	return world.Version{ResourceVersion: "20"}, nil
}

// TestAKeyWaitsForWhatItMade: however long the watch is behind, a key is not decided
// about without an object that it has made and that the server has: the object
// would be left behind. The server is asked every few seconds.
func TestAKeyWaitsForWhatItMade(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, makesOne)
	server := &makes{}
	g := newGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	put(t, g, "n", "10", nil)
	key := eval.Key{Name: "n"}
	for _, step := range []struct {
		after         time.Duration
		there, waits  bool
		writes, asked int
	}{
		{0, true, false, 1, 0}, {patience, true, true, 1, 0}, {patience + 1, true, true, 1, 1}, {2 * patience, true, true, 1, 1},
		{2*patience + 2, true, true, 1, 2}, {time.Hour, true, true, 1, 3}, {2 * time.Hour, false, false, 2, 4},
	} {
		server.there = step.there
		r := c.Reconcile(t.Context(), key, noon.Add(step.after))
		if waits := r.Decision == nil; waits != step.waits || server.writes != step.writes || server.asked != step.asked {
			t.Errorf("after %v: it waits: %v, %d writes, asked %d times; want %+v", step.after, waits, server.writes, server.asked, step)
		}
	}
}

const makesOne = "  rules: [{name: r, do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: \"${key.name}\"}, data: {a: b}}}]}]\n"

// TestWhatIsGoneBeforeItWasSeen: others have deleted what a key has made, and no
// change tells of either, since the watch was cut. The key is woken once the
// source is known to have come past the write, and makes it again.
func TestWhatIsGoneBeforeItWasSeen(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, makesOne)
	server := &makes{}
	g := newGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	put(t, g, "n", "10", nil)
	key := eval.Key{Name: "n"}
	reconcile := func(writes int) {
		t.Helper()
		if r := c.Reconcile(t.Context(), key, noon); r.Err != nil || r.Final != nil || server.writes != writes {
			t.Fatalf("%d writes, want %d: %v %v", server.writes, writes, r.Err, r.Final)
		}
	}
	var maps world.Source
	for _, s := range g.AllSources() {
		if s.Kind == "ConfigMap" {
			maps = s
		}
	}
	reach := func(version string, woken int) {
		t.Helper()
		if got := g.Reached(maps, version); len(got) != woken {
			t.Errorf("at version %s %d keys are woken, want %d", version, len(got), woken)
		}
	}
	reconcile(1)
	reach("19", 0)
	reconcile(1) // it waits
	server.there = true
	reach("20", 1)
	reach("21", 0) // it was told once
	reconcile(1)   // the server has it: what the read model shows is older than was thought
	server.there = false
	reach("21", 1)
	reconcile(2)
	g.Put(t.Context(), maps, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "ns", "name": "n", "resourceVersion": "20"}, "data": map[string]any{"a": "b"}})
	reach("22", 0)
}
