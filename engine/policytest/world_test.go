package policytest

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// TestMisspelt: a field that a kind does not have is found at any depth, with
// what was probably meant; of kinds without a schema nothing is known.
func TestMisspelt(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	node := func(spec object) simulate.Object {
		return simulate.Object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": "n", "labels": object{"any": "thing"}}, "spec": spec}
	}
	for name, tc := range map[string]struct {
		object simulate.Object
		want   string // "" is fine
	}{
		"right":         {node(object{"unschedulable": true, "taints": []any{object{"key": "a", "effect": "NoSchedule"}}}), ""},
		"a field":       {node(object{"unschedulabel": true}), `spec.unschedulabel, which the kind has not; did you mean "unschedulable"?`},
		"in a list":     {node(object{"taints": []any{object{"key": "a"}, object{"kye": "b"}}}), "spec.taints[].kye"},
		"an open map":   {simulate.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "c", "namespace": "n"}, "data": object{"any": "thing"}}, ""},
		"unknown kinds": {simulate.Object{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": object{"name": "w"}, "sepc": object{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := misspelt([]simulate.Object{tc.object}, schema.Builtin())
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
