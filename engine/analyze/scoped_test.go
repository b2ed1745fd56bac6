package analyze

import (
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
)

// TestInNamespace: an object is found by the keys of its namespace, and by all where
// it is unknown whether it or they have one.
func TestInNamespace(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for where, exact := range map[string]bool{
		"": true, `item.spec.nodeName == key.name`: true, `item.spec.nodeName > key.name`: false, `item.spec.nodeName == "n1"`: false,
		`item.spec.nodeName == key.name && item.spec.zones.exists(z, z == key.name)`: true,
	} {
		var j Join
		if where != "" {
			j = JoinOf(compiled(t, env, where))
		}
		for _, loose := range []bool{false, true} {
			scoped := j.InNamespace(loose, where == "")
			if scoped.Exact != exact || scoped.Depends != j.Depends {
				t.Errorf("%q: exact %t", where, scoped.Exact)
			}
			for _, item := range []string{"", "a", "b"} {
				for _, key := range []string{"", "a", "b"} {
					scope := names{
						"item":     object(map[string]any{"metadata": map[string]any{"namespace": item}, "spec": map[string]any{"nodeName": "o", "zones": []any{"o"}}}),
						"key.name": types.String("o"), "key.namespace": types.String(key),
					}
					got := slices.ContainsFunc(scoped.Item.Keys(scope, meterOf(t)), func(k string) bool { return slices.Contains(scoped.Probe.Keys(scope, meterOf(t)), k) })
					want := item == key || loose && (item == "" || key == "")
					if got != want {
						t.Errorf("%q, loose %t: an item in %q for a key in %q: %t", where, loose, item, key, got)
					}
				}
			}
		}
	}
}
