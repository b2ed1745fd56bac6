package reconcile

import (
	"context"
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
