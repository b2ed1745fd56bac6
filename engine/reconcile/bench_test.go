package reconcile

import (
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

// BenchmarkReconcile is a reconciliation with one condition and one label that is
// there already, so that nothing is written: what observes it is part of it.
func BenchmarkReconcile(b *testing.B) {
	p, bundle := compiledFor(b, "{apiVersion: v1, kind: Node}", "  rules: [{name: r, when: object.metadata.name != 'x', do: [{labels: {set: {large: 'yes'}}}]}]\n")
	g := newGroup(world.NewStore(), &late{}, bundle.Schemas)
	c := g.Add(p)
	for _, s := range g.AllSources() {
		g.Put(b.Context(), s, map[string]any{"metadata": map[string]any{"name": "n", "resourceVersion": "1", "labels": map[string]any{"large": "yes"}}})
	}
	key := eval.Key{Name: "n"}
	b.ReportAllocs()
	for b.Loop() {
		if r := c.Reconcile(b.Context(), key, noon); len(r.Outcomes) > 0 {
			b.Fatal(r.Outcomes)
		}
	}
}
