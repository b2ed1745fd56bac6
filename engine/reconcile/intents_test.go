package reconcile

import (
	"fmt"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

const spaced = `  rules:
    - name: mark
      debounce: {key: "${key.name}", window: 30s}
      do: [{labels: {set: {mark: a}}}]
`

// TestIntentsAreForgotten: what was debounced for objects that are gone leaves
// nothing behind once its window is over, and what waits is kept.
func TestIntentsAreForgotten(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, spaced)
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	c := g.Add(p)
	at := noon
	for i := range 100 {
		name := fmt.Sprint("n", i)
		put(t, g, name, "1", nil)
		c.Reconcile(t.Context(), eval.Key{Name: name}, at)
		for _, s := range g.AllSources() {
			g.Delete(t.Context(), s, "", name)
		}
		c.Reconcile(t.Context(), eval.Key{Name: name}, at)
		at = at.Add(time.Second)
	}
	put(t, g, "waits", "1", nil)
	c.Reconcile(t.Context(), eval.Key{Name: "waits"}, at)
	put(t, g, "waits", "2", map[string]any{"a": "b"})
	c.Reconcile(t.Context(), eval.Key{Name: "waits"}, at.Add(11*time.Second)) // its own write is waited for no longer
	if c.Pending() != 1 {
		t.Fatalf("%d wait, want 1", c.Pending())
	}
	put(t, g, "last", "1", nil)
	c.Reconcile(t.Context(), eval.Key{Name: "last"}, at.Add(2*time.Minute))
	if c.Pending() != 1 || len(c.known.intents.byName) != 2 || len(c.known.intents.ofKey) != 2 {
		t.Errorf("%d wait, %d and %d are kept, want 1, 2 and 2", c.Pending(), len(c.known.intents.byName), len(c.known.intents.ofKey))
	}
}
