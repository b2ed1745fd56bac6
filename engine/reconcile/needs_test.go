package reconcile

import (
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

const twice = `  inputs: [{name: marked, apiVersion: v1, kind: Node, selector: {matchLabels: {a: b}}}]
  rules: [{name: r, forEach: inputs.marked, as: node, do: [{annotations: {of: node, set: {x: y}}}]}]
`

// TestSourcesOfOneKindAreAlike: an object that is watched twice looks the same
// from both sides, or what is written already would be written again.
func TestSourcesOfOneKindAreAlike(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, twice)
	server := &late{}
	g := newGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	for _, s := range g.AllSources() {
		g.Put(t.Context(), s, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{
			"name": "n", "resourceVersion": "1", "labels": map[string]any{"a": "b"}, "annotations": map[string]any{"x": "y"},
		}})
	}
	if r := c.Reconcile(t.Context(), eval.Key{Name: "n"}, noon); r.Err != nil || server.writes != 0 {
		t.Errorf("%d writes (%v)", server.writes, r.Err)
	}
}
