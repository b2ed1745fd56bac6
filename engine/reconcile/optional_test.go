package reconcile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

// TestOptionalKeys: what only inputs name is woken with its namespace, and is
// not taken for absent when it is there.
func TestOptionalKeys(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]string{
		"as it is":        `item.metadata.?annotations[?"from"].orValue("") == key.name && item.metadata.namespace == key.namespace`,
		"turned round":    `key.namespace == item.metadata.namespace && key.name == item.metadata.?annotations[?"from"].orValue("")`,
		"in a list":       `key.name in [item.metadata.?annotations[?"from"].orValue("")] && item.metadata.namespace == key.namespace`,
		"with more to it": `item.metadata.namespace == key.namespace && item.metadata.?annotations[?"from"].orValue("") == key.name && item.metadata.name != "x"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := compiledFor(t, "{apiVersion: v1, kind: ConfigMap, optional: true}", "  inputs: [{name: copies, apiVersion: v1, kind: Secret, where: '"+where+"'}]\n"+
				"  rules: [{name: gone, when: object == null, forEach: inputs.copies, as: c, do: [{log: {message: gone}}]}]\n")
			g := newGroup(world.NewStore(), &late{}, b.Schemas)
			c := g.Add(p)
			put := func(kind, name string, annotations map[string]any) (keys []eval.Key) {
				for _, s := range g.AllSources() {
					if s.Kind != kind {
						continue
					}
					for _, w := range g.Put(t.Context(), s, map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{
						"name": name, "namespace": "infra", "uid": name, "resourceVersion": "1", "annotations": annotations,
					}}) {
						keys = append(keys, w.Key)
					}
				}
				return keys
			}
			put("ConfigMap", "ca", nil)
			if keys := put("Secret", "copy", map[string]any{"from": "ca"}); !cmp.Equal(keys, []eval.Key{{Namespace: "infra", Name: "ca"}}) {
				t.Errorf("a copy of what is there wakes %v", keys)
			}
			if d := c.Evaluate(t.Context(), eval.Key{Namespace: "infra", Name: "ca"}, noon); len(d.Log) != 0 {
				t.Errorf("what is there is decided about as if it were not: %v", d.Log)
			}
			lost := eval.Key{Namespace: "infra", Name: "lost"}
			if keys := put("Secret", "other", map[string]any{"from": "lost"}); !cmp.Equal(keys, []eval.Key{lost}) {
				t.Fatalf("a copy of what is not there wakes %v", keys)
			}
			if r := c.Reconcile(t.Context(), lost, noon); r.Err != nil || len(r.Decision.Log) != 1 {
				t.Errorf("what is not there is decided about with %v (%v)", r.Decision.Log, r.Err)
			}
			if keys := put("Secret", "other", map[string]any{"from": "ca"}); !cmp.Equal(keys, []eval.Key{{Namespace: "infra", Name: "ca"}, lost}) {
				t.Errorf("a copy that changes its source wakes %v", keys)
			}
		})
	}
}
