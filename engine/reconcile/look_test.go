package reconcile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// TestLook: looking at a key says what Reconcile would write, with what the guard
// refuses, and changes nothing, so that a second look finds the same.
func TestLook(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, strings.Replace(labelling, "VALUE", "a", 1))
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	c := g.Add(p)
	put(t, g, "n", "1", nil)
	c.MarkInitial()
	key := eval.Key{Name: "n"}
	for range 2 {
		r := c.Look(t.Context(), key, noon, nil)
		doc := r.Render(t.Context())
		want := map[string]any{"metadata": map[string]any{"labels": map[string]any{"mark": "a"}}}
		if len(doc.Effects) != 1 || doc.Effects[0].Result != "" || doc.Error != "" {
			t.Fatalf("%+v, error %q", doc.Effects, doc.Error)
		}
		if diff := cmp.Diff(want, value.Plain(r.Decision.Effects[0].Patch)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got := c.Reconcile(t.Context(), key, noon); len(got.Outcomes) != 1 || got.Record.WokenBy[0].Reason != "start" {
		t.Errorf("after two looks: %+v", got)
	}
}

// TestPaced: the result of the write that empties the bucket of a key says that the key is at
// its pace, that of one before it does not.
func TestPaced(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, strings.Replace(labelling, "VALUE", "a", 1))
	for before, want := range map[int]bool{28: false, 29: true} {
		g := newGroup(world.NewStore(), &late{}, b.Schemas)
		g.Brakes = brake.New(brake.Settings{}, nil)
		c, key := g.Add(p), eval.Key{Name: "n"}
		c.brake.Adopt(p)
		put(t, g, "n", "1", nil)
		for range before {
			c.brake.Admit(brake.Request{Key: key, Next: noon.Add(time.Millisecond), Now: noon})
		}
		if got := c.Reconcile(t.Context(), key, noon); got.Paced != want || len(got.Outcomes) != 1 {
			t.Errorf("after %d evaluations: %+v", before, got)
		}
	}
}
