package apply_test

import (
	"testing"

	"github.com/edict-dev/edict/engine/apply"
)

// TestKeptFor: a child that is there already is the one that is made unless it is marked
// for another primary object.
func TestKeptFor(t *testing.T) {
	t.Parallel()
	marks := func(name, namespace string) map[string]string {
		return map[string]string{"edict.dev/primary-name": name, "edict.dev/primary-namespace": namespace}
	}
	for name, tc := range map[string]struct {
		there, made map[string]string
		want        bool
	}{
		"the same":               {marks("a", "n"), marks("a", "n"), true},
		"another":                {marks("a", "n"), marks("b", "n"), false},
		"one of another place":   {marks("a", "m"), marks("a", "n"), false},
		"no child is there":      {nil, marks("a", "n"), true},
		"no child is made":       {marks("a", "n"), nil, true},
		"no namespaces, another": {map[string]string{"edict.dev/primary-name": "a"}, map[string]string{"edict.dev/primary-name": "b"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			annotations := map[string]any{}
			for key, v := range tc.made {
				annotations[key] = v
			}
			m := apply.Manifest{Body: map[string]any{"metadata": map[string]any{"annotations": annotations}}}
			if got := m.KeptFor(tc.there); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}
