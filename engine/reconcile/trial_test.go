package reconcile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/world"
)

// TestTryOut: an edit that fails for an object, or would write what it may not,
// is found out before it takes over; one that did so before is not held up.
func TestTryOut(t *testing.T) {
	t.Parallel()
	good := strings.Replace(labelling, "VALUE", "a", 1)
	fails := strings.Replace(labelling, "VALUE", `"${object.metadata.labels.team}"`, 1)
	holds := "  rules:\n    - name: mark\n      do: [{finalizer: {name: example.com/held}}]\n"
	p, b := compiled(t, good)
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	now := g.Add(p)
	join := func(text string) *Controller {
		edited, _ := compiled(t, text)
		return g.Join(edited)
	}
	failing, holding := join(fails), join(holds)
	put(t, g, "n", "1", map[string]any{"team": "x"})
	keys := g.Replay(t.Context(), failing)
	if err := TryOut(t.Context(), failing, now, keys, noon); err != nil {
		t.Errorf("it fails for no object, and: %v", err)
	}
	put(t, g, "lost", "2", nil)
	keys = g.Replay(t.Context(), failing)
	if err := TryOut(t.Context(), failing, now, keys, noon); err == nil || !strings.Contains(err.Error(), `it fails for Node lost, the one in force does not: rule "mark"`) {
		t.Errorf("it fails for one object: %v", err)
	}
	if err := TryOut(t.Context(), failing, failing, keys, noon); err != nil {
		t.Errorf("it failed before: %v", err)
	}
	if err := TryOut(t.Context(), holding, now, keys, noon); err == nil || !strings.Contains(err.Error(), "metadata.finalizers") {
		t.Errorf("what it may not write: %v", err)
	}
}
