package reconcile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// divided is a controller of an installation that decides about some objects.
type divided struct {
	*Controller
	t      *testing.T
	server *journal
	now    time.Time
}

func newDivided(t *testing.T, watched, primary, spec string) *divided {
	t.Helper()
	s, err := selector.Parse(value.OfString(watched))
	if err != nil {
		t.Fatal(err)
	}
	p, b := compiledFor(t, primary, spec)
	d := &divided{t: t, server: &journal{written: map[string]string{}}, now: time.Now()}
	g := newGroup(world.NewStore(), d.server, b.Schemas)
	g.WatchSelector, g.HandOver = s, 15*time.Second
	d.Controller = g.Add(p)
	return d
}

// put feeds an object with a label, or without any, and returns the names of the keys that
// it wakes.
func (d *divided) put(kind, name, version, shard string) (woken []string) {
	d.t.Helper()
	labels := map[string]any{}
	if shard != "" {
		labels["shard"] = shard
	}
	for _, s := range d.group.AllSources() {
		if s.Kind != kind {
			continue
		}
		for _, w := range d.group.Put(d.t.Context(), s, map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{
			"name": name, "uid": name, "resourceVersion": version, "labels": labels, "annotations": map[string]any{"of": name},
		}}) {
			woken = append(woken, w.Key.Name)
		}
	}
	return woken
}

// decide decides about a key some time after the beginning.
func (d *divided) decide(name string, after time.Duration) Result {
	d.t.Helper()
	r := d.Reconcile(d.t.Context(), eval.Key{Name: name}, d.now.Add(after))
	if r.Err != nil {
		d.t.Fatal(r.Err)
	}
	return r
}

// TestWatchedKeys: only objects that match are decided about; one that leaves is
// forgotten, and is not written any more.
func TestWatchedKeys(t *testing.T) {
	t.Parallel()
	d := newDivided(t, "shard=a", "{apiVersion: v1, kind: Node}", `  rules:
    - name: mark
      do:
        - labels: {set: {mark: x}}
        - remember: {name: seen, value: "yes"}
`)
	if diff := cmp.Diff([]string{"one"}, append(d.put("Node", "one", "1", "a"), d.put("Node", "two", "1", "b")...)); diff != "" {
		t.Error("woken:", diff)
	}
	d.decide("one", 0)
	if left := d.Left(); left != 1 {
		t.Errorf("%d objects are left to others, want 1", left)
	}
	if d.Count() != 1 || d.Watches(eval.Key{Name: "two"}) || d.server.written["one"] == "" {
		t.Errorf("%d keys, written %v", d.Count(), d.server.written)
	}
	clear(d.server.written)
	if woken := d.put("Node", "one", "30", "b"); len(woken) != 1 {
		t.Errorf("the key that leaves wakes %v", woken)
	}
	d.decide("one", time.Minute)
	if len(d.server.written) > 0 || d.Count() != 0 || len(d.known.states) > 0 || len(d.known.memories.of) > 0 {
		t.Errorf("after it has left: written %v, %d keys, %d states, %d memories", d.server.written, d.Count(), len(d.known.states), len(d.known.memories.of))
	}
	if woken := d.put("Node", "one", "31", "b"); len(woken) > 0 {
		t.Errorf("what has left wakes %v", woken)
	}
}

// TestHandOver: an object whose labels begin to match counts as one of the first list, and
// is decided about when the installation before has seen that it has left, also by a
// revision that takes over meanwhile. One that is new needs no wait.
func TestHandOver(t *testing.T) {
	t.Parallel()
	const spec = "  rules: [{name: mark, do: [{labels: {set: {mark: '${string(initial)}'}}}]}]\n"
	d := newDivided(t, "shard=a", "{apiVersion: v1, kind: Node}", spec)
	d.put("Node", "moved", "1", "b")
	if woken := d.put("Node", "moved", "2", "a"); len(woken) != 1 {
		t.Fatalf("it wakes %v", woken)
	}
	if r := d.decide("moved", 10*time.Second); r.Decision != nil || !r.Next.After(d.now.Add(10*time.Second)) {
		t.Errorf("decided about before, again at %v", r.Next)
	}
	next := d.group.Join(d.Policy)
	next.Adopt(d.Controller, d.group.Replay(t.Context(), next))
	if r := next.Reconcile(t.Context(), eval.Key{Name: "moved"}, d.now.Add(11*time.Second)); r.Decision != nil {
		t.Error("another revision decides before")
	}
	if next.Reconcile(t.Context(), eval.Key{Name: "moved"}, d.now.Add(16*time.Second)); !strings.Contains(d.server.written["moved"], "true") {
		t.Errorf("afterwards it is written as %q, want that it was in the first list", d.server.written["moved"])
	}
	d.put("Node", "new", "40", "a")
	if next.Reconcile(t.Context(), eval.Key{Name: "new"}, d.now); !strings.Contains(d.server.written["new"], "false") {
		t.Errorf("a new one is written as %q", d.server.written["new"])
	}
}

// TestNoChildIsDeleted: an object that leaves is not one that is gone, or that leaves the
// selector of the policy.
func TestNoChildIsDeleted(t *testing.T) {
	t.Parallel()
	d := newDivided(t, "shard=a", "{apiVersion: v1, kind: Namespace, selector: app=x}", `  finalizer: example.com/done
  children:
    - {name: c, apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: infra, name: "${key.name}"}}}
  rules:
    - {name: bye, when: leaving, do: [{log: {message: bye}}]}
`)
	feed := func(version, shard, app string) {
		for _, s := range d.group.AllSources() {
			if s.Kind == "Namespace" {
				d.group.Put(t.Context(), s, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
					"name": "n", "uid": "n", "resourceVersion": version, "labels": map[string]any{"shard": shard, "app": app}, "finalizers": []any{"example.com/done"},
				}})
			}
		}
	}
	feed("1", "a", "x")
	if r := d.decide("n", 0); len(r.Decision.Effects) == 0 {
		t.Fatal("no child is made")
	}
	for i, app := range []string{"x", "y"} { // y leaves the selector of the policy, too
		feed([]string{"50", "51"}[i], "b", app)
		if r := d.decide("n", time.Minute); r.Decision != nil && len(r.Decision.Effects)+len(r.Decision.Log) > 0 {
			t.Errorf("%s: decided about with %v %v", app, r.Decision.Effects, r.Decision.Log)
		}
	}
}

// TestKeysWithoutAnObject belong to the installation whose selector matches no labels.
func TestKeysWithoutAnObject(t *testing.T) {
	t.Parallel()
	for watched, has := range map[string]bool{"shard=a": false, "!shard": true, "shard notin (a)": true, "": true} {
		d := newDivided(t, watched, "{apiVersion: v1, kind: Node, optional: true}", `  inputs:
    - {name: claims, apiVersion: v1, kind: PersistentVolume, where: 'item.metadata.annotations["of"] == key.name'}
  rules: [{name: gone, when: object == null, forEach: inputs.claims, as: c, do: [{log: {message: gone}}]}]
`)
		d.put("PersistentVolume", "lost", "1", "")
		if r := d.decide("lost", 0); (len(r.Decision.Log) == 1) != has {
			t.Errorf("%q: decided about with %v", watched, r.Decision.Log)
		}
		d.put("Node", "lost", "2", "c")
		if d.Watches(eval.Key{Name: "lost"}) != (watched != "shard=a" && watched != "!shard") {
			t.Errorf("%q: it watches the object: %v", watched, !has)
		}
	}
}

// TestWhatIsDebouncedWhenAKeyLeaves is run by the installation that it waits in.
func TestWhatIsDebouncedWhenAKeyLeaves(t *testing.T) {
	t.Parallel()
	d := newDivided(t, "shard=a", "{apiVersion: v1, kind: Node}", `  rules:
    - name: mark
      debounce: {key: "${key.name}", window: 1m}
      do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: infra, name: "${key.name}"}, data: {v: "${object.metadata.resourceVersion}"}}}]
`)
	d.put("Node", "one", "1", "a")
	d.decide("one", 0) // the first run opens the window
	d.put("Node", "one", "2", "a")
	d.decide("one", time.Second)
	if d.Pending() != 1 {
		t.Fatalf("%d runs are pending", d.Pending())
	}
	d.put("Node", "one", "3", "b")
	if r := d.decide("one", 2*time.Second); d.Pending() != 1 || r.Next.IsZero() {
		t.Errorf("%d runs are pending, the next at %v", d.Pending(), r.Next)
	}
	if r := d.decide("one", 2*time.Minute); d.Pending() != 0 || len(r.Outcomes) != 1 {
		t.Errorf("%d runs are pending after %d writes", d.Pending(), len(r.Outcomes))
	}
}
