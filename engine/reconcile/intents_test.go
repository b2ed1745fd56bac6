package reconcile

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

const bounded = `  params: {most: 1}
  rules:
    - name: mark
      debounce: {key: "${key.name}", window: 10s, maxInFlight: "${params.most}"}
      do: [{labels: {set: {mark: a}}}]
`

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

// TestMaxInFlight: while one key runs the rule another one waits, a second and
// no longer.
func TestMaxInFlight(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, bounded)
	server := &meanwhile{}
	g := NewGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	put(t, g, "a", "1", nil)
	put(t, g, "b", "1", nil)
	one, other := eval.Key{Name: "a"}, eval.Key{Name: "b"}
	server.do = func() {
		if r := c.Reconcile(t.Context(), other, noon); server.writes != 1 || !r.Next.Equal(noon.Add(time.Second)) || c.Pending() != 1 {
			t.Errorf("%d writes, the next at %v, %d wait", server.writes, r.Next, c.Pending())
		}
	}
	if r := c.Reconcile(t.Context(), one, noon); r.Err != nil || server.do != nil {
		t.Fatalf("nothing was written (%v)", r.Err)
	}
	if r := c.Reconcile(t.Context(), other, noon.Add(time.Second)); r.Err != nil || server.writes != 2 || c.Pending() != 0 {
		t.Errorf("%d writes, %d wait (%v)", server.writes, c.Pending(), r.Err)
	}
}

// TestIntentsAreForgotten: what was debounced for objects that are gone leaves
// nothing behind once its window is over, and what waits is kept.
func TestIntentsAreForgotten(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, strings.Replace(bounded, "10s", "30s", 1))
	g := NewGroup(world.NewStore(), &late{}, b.Schemas)
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
