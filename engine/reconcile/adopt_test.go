package reconcile

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// compiled compiles a policy of Nodes.
func compiled(t *testing.T, spec string) (*plan.Policy, *source.Bundle) {
	t.Helper()
	return compiledFor(t, "{apiVersion: v1, kind: Node}", spec)
}

func compiledFor(t testing.TB, primary, spec string) (*plan.Policy, *source.Bundle) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.yaml")
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: " + primary + "\n" + spec
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Err(); err != nil {
		t.Fatal(err)
	}
	return b.Policies[0], b
}

// put feeds a node to everybody.
func put(t *testing.T, g *Group, name, version string, labels map[string]any) {
	t.Helper()
	for _, s := range g.AllSources() {
		g.Put(t.Context(), s, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name, "resourceVersion": version, "labels": labels}})
	}
}

const labelling = `  rules:
    - name: mark
      do: [{labels: {set: {mark: VALUE}}}]
`

// TestShadow: what a policy in the shadow would do otherwise is found in the
// state that the enforced one decides about, and nothing of it is written.
func TestShadow(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, strings.Replace(labelling, "VALUE", "a", 1))
	next, _ := compiled(t, "  mode: Shadow\n"+strings.Replace(labelling, "VALUE", "b", 1))
	p.Set, next.Set, next.ShadowOf = "s", "t", "s"
	server := &late{}
	g := newGroup(world.NewStore(), server, b.Schemas)
	active, shadow := g.Add(p), g.Add(next)
	put(t, g, "n", "1", nil)
	key := eval.Key{Name: "n"}
	active.Reconcile(t.Context(), key, noon)
	if server.writes != 1 {
		t.Errorf("%d writes", server.writes)
	}
	report := func(differing, disagreements int) Disagreement {
		t.Helper()
		r := shadow.ShadowReport()
		if r.Differing != differing || r.Disagreements != disagreements || r.Enforced != p.Revision || r.Revision != next.Revision || len(r.Examples) != 1 {
			t.Fatalf("%+v", r)
		}
		return r.Examples[0]
	}
	want := Disagreement{At: noon, Key: "n", Differences: []string{`~ patch Node n: metadata.labels.mark: "a" -> "b"`}}
	if d := cmp.Diff(want, report(1, 1)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	put(t, g, "n", "20", map[string]any{"mark": "a"})
	shadow.Reconcile(t.Context(), key, noon.Add(time.Minute)) // woken by itself
	if got := report(1, 2); !slices.Equal(got.Differences, []string{`+ patch Node n: metadata.labels.mark: "a" -> "b"`}) || got.Settled {
		t.Errorf("%+v", got)
	}
	put(t, g, "n", "21", map[string]any{"mark": "b"})
	active.Reconcile(t.Context(), key, noon.Add(2*time.Minute)) // it would be set to a again
	report(1, 3)
	active.Policy.Rules[0] = next.Rules[0]
	shadow.Reconcile(t.Context(), key, noon.Add(3*time.Minute))
	if got := report(0, 3); !got.Settled {
		t.Errorf("%+v", got)
	}
	if server.writes != 2 {
		t.Errorf("%d writes", server.writes)
	}
	if active.ShadowReport() != nil {
		t.Error("what is enforced has a report of the shadow")
	}
}

// TestShadowExamplesAreBounded keeps the newest, one per key.
func TestShadowExamplesAreBounded(t *testing.T) {
	t.Parallel()
	next, b := compiled(t, "  mode: Shadow\n"+strings.Replace(labelling, "VALUE", "b", 1))
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	shadow := g.Add(next)
	for i := range maxExamples + 5 {
		name := "n" + strings.Repeat("x", i)
		put(t, g, name, "1", nil)
		shadow.Reconcile(t.Context(), eval.Key{Name: name}, noon)
		shadow.Reconcile(t.Context(), eval.Key{Name: name}, noon)
	}
	r := shadow.ShadowReport()
	if r.Differing != maxExamples+5 || len(r.Examples) != maxExamples || r.Examples[0].Key != "n"+strings.Repeat("x", maxExamples+4) || r.Enforced != "" {
		t.Errorf("%d keys differ, %d examples, the first is %s", r.Differing, len(r.Examples), r.Examples[0].Key)
	}
}

const remembering = `  rules:
    - name: remember
      do: [{remember: {name: seen, value: "yes"}}]
    - name: later
      debounce: {key: "${key.name}", window: 10s}
      do: [{labels: {set: {mark: VALUE}}}]
`

// TestAdopting: another revision goes on with what was remembered and put off.
func TestAdopting(t *testing.T) {
	t.Parallel()
	key := eval.Key{Name: "n"}
	begin := func() (*Group, *Controller, *late) {
		p, b := compiled(t, strings.Replace(remembering, "VALUE", "a", 1))
		server := &late{}
		g := newGroup(world.NewStore(), server, b.Schemas)
		c := g.Add(p)
		put(t, g, "n", "1", nil)
		c.Reconcile(t.Context(), key, noon.Add(-time.Second))
		put(t, g, "n", "30", map[string]any{"mark": "gone"})
		server.writes = 0
		c.Reconcile(t.Context(), key, noon)
		if c.Pending() != 1 || server.writes != 0 {
			t.Fatalf("%d wait, %d writes", c.Pending(), server.writes)
		}
		return g, c, server
	}
	swap := func(g *Group, old *Controller, spec string) (*Controller, []eval.Key) {
		next, _ := compiled(t, spec)
		c := g.Add(next)
		again := c.Adopt(old, g.Replay(t.Context(), c))
		if unused := g.Remove(old); len(unused) != 0 {
			t.Errorf("sources are given up that are read: %v", unused)
		}
		return c, again
	}
	t.Run("the rule is still there", func(t *testing.T) {
		g, old, server := begin()
		c, again := swap(g, old, strings.Replace(remembering, "VALUE", "b", 1))
		if d := cmp.Diff([]eval.Key{key}, again); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		if got, _ := value.Str(c.known.memories.recall(key)("seen")); got != "yes" || c.Pending() != 1 {
			t.Errorf("it recalls %q, %d wait", got, c.Pending())
		}
		if c.Reconcile(t.Context(), key, noon.Add(10*time.Second)); server.writes != 1 || c.Pending() != 0 {
			t.Errorf("%d writes, %d wait", server.writes, c.Pending())
		}
	})
	t.Run("the rule is gone", func(t *testing.T) {
		g, old, _ := begin()
		c, _ := swap(g, old, "  rules:\n    - {name: other, do: [{labels: {set: {mark: b}}}]}\n")
		if c.Pending() != 0 {
			t.Errorf("%d wait", c.Pending())
		}
	})
	t.Run("only what does not matter differs", func(t *testing.T) {
		g, old, _ := begin()
		old.Flush(t.Context(), noon)
		_, again := swap(g, old, "  metrics: [{name: m_total, of: effect.written}]\n"+strings.Replace(remembering, "VALUE", "a", 1))
		if len(again) != 0 {
			t.Errorf("decided anew: %v", again)
		}
	})
}

// TestRemoving gives up what only one policy read, with its indexes.
func TestRemoving(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, strings.Replace(labelling, "VALUE", "a", 1))
	reads, _ := compiled(t, "  inputs: [{name: pods, apiVersion: v1, kind: Pod, where: item.spec.nodeName == key.name}]\n"+strings.Replace(labelling, "VALUE", `"${string(size(inputs.pods))}"`, 1))
	store := world.NewStore()
	g := newGroup(store, &late{}, b.Schemas)
	g.Add(p)
	c := g.Add(reads)
	index := reads.Inputs[0].Index
	pods := reads.Inputs[0].Source
	if !store.Snapshot().Table(pods).Has(index) {
		t.Fatal("there is no index")
	}
	again := g.Add(reads)
	if unused := g.Remove(c); len(unused) != 0 || !store.Snapshot().Table(pods).Has(index) {
		t.Errorf("what another one reads is given up: %v", unused)
	}
	if unused := g.Remove(again); len(unused) != 1 || unused[0] != pods {
		t.Errorf("given up: %v", unused)
	}
}

// TestTryOutOfCosts: an edit that costs too much for the objects there are is found
// out before it takes over; one that was as costly before is not held up.
func TestTryOutOfCosts(t *testing.T) {
	t.Parallel()
	cheap := strings.Replace(labelling, "VALUE", "a", 1)
	dear := strings.Replace(labelling, "VALUE", `"${string(size(object.metadata.labels.map(a, object.metadata.labels.map(b, object.metadata.labels.map(c, a + b + c)))))}"`, 1)
	p, b := compiled(t, cheap)
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	now := g.Add(p)
	costs, _ := compiled(t, dear)
	next := g.Add(costs)
	put(t, g, "small", "1", map[string]any{"a": "b"})
	keys := g.Replay(t.Context(), next)
	if err := TryOut(t.Context(), next, now, keys, noon); err != nil {
		t.Errorf("for few labels: %v", err)
	}
	many := map[string]any{}
	for i := range 200 {
		many[strings.Repeat("x", i%20)+string(rune('a'+i/20))] = "y"
	}
	put(t, g, "large", "1", many)
	keys = g.Replay(t.Context(), next)
	err := TryOut(t.Context(), next, now, keys, noon)
	if err == nil || !strings.HasPrefix(err.Error(), `rule "mark" costs too much for large: `) || !strings.Contains(err.Error(), "split it, or use a collection") {
		t.Errorf("for many labels: %v", err)
	}
	if err := TryOut(t.Context(), next, next, keys, noon); err != nil {
		t.Errorf("what costs as much already: %v", err)
	}
}

// TestWokenWhileAnotherRevisionIsReady: a key that comes between Replay and
// Adopt is decided about by the revision before it alone, and must not be lost.
func TestWokenWhileAnotherRevisionIsReady(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, strings.Replace(labelling, "VALUE", "a", 1))
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	old := g.Add(p)
	put(t, g, "n", "1", nil)
	old.Reconcile(t.Context(), eval.Key{Name: "n"}, noon)
	edited, _ := compiled(t, strings.Replace(labelling, "VALUE", "b", 1))
	next := g.Join(edited)
	keys := g.Replay(t.Context(), next)
	put(t, g, "m", "2", nil)
	put(t, g, "n", "3", map[string]any{"mark": "x"})
	old.Reconcile(t.Context(), eval.Key{Name: "m"}, noon)
	if d := cmp.Diff([]eval.Key{{Name: "n"}, {Name: "m"}}, next.Adopt(old, keys)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

const settingOther = `  rules: [{name: r, do: [{annotations: {of: {apiVersion: v1, kind: ConfigMap, namespace: a, name: b}, set: {mark: x}}}]}]
`

// TestTargetsFollow: an object that an action names wakes the key also after an
// edit that has its kind watched in another way.
func TestTargetsFollow(t *testing.T) {
	t.Parallel()
	wide := "  inputs: [{name: all, apiVersion: v1, kind: ConfigMap}]\n" + settingOther
	for _, edit := range [][2]string{{settingOther, wide}, {wide, settingOther}} {
		p, b := compiled(t, edit[0])
		g := newGroup(world.NewStore(), &late{}, b.Schemas)
		old := g.Add(p)
		put(t, g, "n", "1", nil)
		old.Reconcile(t.Context(), eval.Key{Name: "n"}, noon)
		edited, _ := compiled(t, edit[1])
		next := g.Join(edited)
		if again := next.Adopt(old, g.Replay(t.Context(), next)); len(again) > 0 {
			t.Fatalf("%v are decided about anew", again)
		}
		g.Remove(old)
		woken := 0
		for _, s := range next.Sources() {
			if s.Kind == "ConfigMap" {
				woken += len(g.Put(t.Context(), s, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "a", "name": "b"}}))
			}
		}
		if woken == 0 {
			t.Error("it wakes nobody")
		}
	}
}

// TestShadowsSwap: while both policies decide, either may be edited. Nothing is
// shared with the revision before, and one that is not ready is not asked.
func TestShadowsSwap(t *testing.T) {
	t.Parallel()
	spec := func(mode, value string) string { return mode + strings.Replace(remembering, "VALUE", value, 1) }
	p, b := compiled(t, spec("", "a"))
	hidden, _ := compiled(t, spec("  mode: Shadow\n", "b"))
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	var turns [2]sync.RWMutex
	current := [2]*Controller{g.Add(p), g.Join(hidden)}
	put(t, g, "n", "1", nil)
	key := eval.Key{Name: "n"}
	current[0].Reconcile(t.Context(), key, noon)
	if r := current[1].ShadowReport(); r != nil {
		t.Errorf("a shadow that is not ready reports %+v", r)
	}
	current[1].MarkInitial()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range current {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				turns[i].RLock()
				current[i].Reconcile(t.Context(), key, noon.Add(time.Duration(n)*time.Second))
				turns[i].RUnlock()
			}
		})
	}
	for n := range 50 {
		i := n % 2
		next, _ := compiled(t, spec([]string{"", "  mode: Shadow\n"}[i], string(rune('c'+n%20))))
		c := g.Join(next)
		keys := g.Replay(t.Context(), c)
		turns[i].Lock()
		old := current[i]
		c.Adopt(old, keys)
		current[i] = c
		turns[i].Unlock()
		g.Remove(old)
		if old.ShadowReport() != nil || old.Pending() != 0 {
			t.Error("something is left in the revision before")
		}
	}
	close(stop)
	wg.Wait()
	if got, _ := value.Str(current[1].known.memories.recall(key)("seen")); got != "yes" {
		t.Errorf("it recalls %q", got)
	}
}

// TestShadowForgets: of an object that is gone no answers are kept.
func TestShadowForgets(t *testing.T) {
	t.Parallel()
	next, b := compiled(t, "  mode: Shadow\n"+strings.Replace(labelling, "VALUE", "b", 1))
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	c := g.Add(next)
	put(t, g, "n", "1", nil)
	key := eval.Key{Name: "n"}
	c.shadow.answers[key] = recorded{calls: make([]eval.Call, 1), asked: new(string)}
	for _, s := range g.AllSources() {
		g.Delete(t.Context(), s, "", "n")
	}
	c.Reconcile(t.Context(), key, noon)
	if n := len(c.shadow.answers); n != 0 {
		t.Errorf("%d answers are kept", n)
	}
}

// TestMentions: however an expression speaks of a param, another value for it
// is another rule.
func TestMentions(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]string{
		"plain": "1<2 && params.n > 1", "no space": "1<2 &&params.n > 1", "compared": "1<params.n", "at the end": "2>params.n", "spaces": "params . n > 1",
		"a line of its own": "|\n        1 < 2 &&\n        params.n > 1", "a dot on the next line": "|\n        params\n          .n > 1", "a variable": "variables.far",
		"a variable on a line": "|\n        1 < 2 &&\n        variables.far",
	} {
		if !strings.HasPrefix(when, "|") {
			when = "'" + when + "'"
		}
		spec := "  params: {n: VALUE}\n  variables: [{name: far, expression: '1<params.n'}]\n  rules:\n    - name: r\n      when: " + when + "\n      do: [{labels: {set: {mark: a}}}]\n"
		old, _ := compiled(t, strings.Replace(spec, "VALUE", "1", 1))
		now, _ := compiled(t, strings.Replace(spec, "VALUE", "2", 1))
		if all, _ := differs(old, now); !all {
			t.Errorf("%s: the rule is said to be the same", name)
		}
	}
}

// meanwhile is a server that does something before it answers.
type meanwhile struct {
	late
	do func()
}

func (m *meanwhile) Patch(ctx context.Context, p apply.Patch) (world.Version, error) {
	version, err := m.late.Patch(ctx, p)
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return version, err
}

// TestAdoptingWhileAKeyIsDecided: a key whose write hangs does not hold up
// another revision; it is finished by the one before, evaluated again, and what
// it came to know is not lost, whichever revision is in force by then.
func TestAdoptingWhileAKeyIsDecided(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, strings.Replace(remembering, "VALUE", "a", 1))
	server := &meanwhile{}
	g := newGroup(world.NewStore(), server, b.Schemas)
	first := g.Add(p)
	put(t, g, "n", "1", nil)
	put(t, g, "other", "1", nil)
	key := eval.Key{Name: "n"}
	revisions := []*Controller{first}
	server.do = func() {
		for _, value := range []string{"b", "c"} {
			next, _ := compiled(t, strings.Replace(remembering, "VALUE", value, 1))
			c := g.Join(next)
			again := c.Adopt(revisions[len(revisions)-1], g.Replay(t.Context(), c))
			if !slices.Contains(again, key) {
				t.Errorf("%v are evaluated again, want %v among them", again, key)
			}
			g.Remove(revisions[len(revisions)-1])
			revisions = append(revisions, c)
		}
	}
	if r := first.Reconcile(t.Context(), key, noon); r.Err != nil || len(revisions) != 3 {
		t.Fatalf("%v, %d revisions", r.Err, len(revisions))
	}
	last := revisions[len(revisions)-1]
	if got, _ := value.Str(last.known.memories.recall(key)("seen")); got != "yes" {
		t.Errorf("it recalls %q", got)
	}
	if _, waits := last.known.writes.get(key); !waits {
		t.Error("it does not know of the write")
	}
}

// newGroup is NewGroup for policies that may write labels of Nodes.
func newGroup(store *world.Store, writer apply.Writer, schemas *schema.Set) *Group {
	g := NewGroup(store, writer, schemas)
	g.SetGuard(guard.New(nil).Assuming())
	return g
}
