package restart

import (
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

func TestAnnotationName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ rollout, name, want string }{
		{"shipshape.io/restartedAt", "app", "shipshape.io/config-hash-app"},
		{"restartedAt", "app", "config-hash-app"},
		{"a/b/c", "app", "a/config-hash-app"},
		{"x/r", "a b!c", "x/config-hash-a-b-c"},
		{"x/r", "..-a.-", "x/config-hash-a"},
		{"x/r", "!!", "x/config-hash-configmap"},
		{"x/r", strings.Repeat("a", 51), "x/config-hash-" + strings.Repeat("a", 51)},
		{"x/r", strings.Repeat("a", 52), "x/config-hash-" + strings.Repeat("a", 40) + "-6c1b3dc7a7"},
	} {
		if got := annotationName(test.rollout, test.name); got != test.want {
			t.Errorf("%s, %s: want %s, got %s", test.rollout, test.name, test.want, got)
		}
	}
}

type object = map[string]any

// TestReferences gives the function only the fields that it declares to read.
func TestReferences(t *testing.T) {
	t.Parallel()
	workloads, sources := read(0), read(1)
	container := func(c object) object { return object{"containers": []any{object{"name": "other"}, c}} }
	for name, test := range map[string]struct {
		pod               object
		configMap, secret bool
	}{
		"nothing":            {container(object{"env": []any{object{"name": "A", "value": "app"}}}), false, false},
		"env":                {container(object{"env": []any{object{"name": "A", "valueFrom": object{"configMapKeyRef": object{"name": "app", "key": "k"}}}}}), true, false},
		"env of a secret":    {container(object{"env": []any{object{"name": "A", "valueFrom": object{"secretKeyRef": object{"name": "app", "key": "k"}}}}}), false, true},
		"envFrom":            {container(object{"envFrom": []any{object{"configMapRef": object{"name": "app"}}}}), true, false},
		"another one":        {container(object{"envFrom": []any{object{"configMapRef": object{"name": "app2"}}}}), false, false},
		"an init container":  {object{"initContainers": []any{object{"envFrom": []any{object{"secretRef": object{"name": "app"}}}}}}, false, true},
		"a volume":           {object{"volumes": []any{object{"name": "v", "configMap": object{"name": "app"}}}}, true, false},
		"a secret volume":    {object{"volumes": []any{object{"name": "v", "secret": object{"secretName": "app"}}}}, false, true},
		"a projected volume": {object{"volumes": []any{object{"name": "v", "projected": object{"sources": []any{object{"serviceAccountToken": object{}}, object{"configMap": object{"name": "app"}}}}}}}, true, false},
		"no Pod":             {nil, false, false},
	} {
		workload := value.Freeze(object{"metadata": object{"namespace": "n"}, "spec": object{"template": object{"spec": test.pod}}}, nil, workloads)
		for kind, want := range map[string]bool{"ConfigMap": test.configMap, "Secret": test.secret, "Pod": false} {
			o := value.Freeze(object{"kind": kind, "metadata": object{"name": "app", "namespace": "n"}}, nil, sources)
			if got := references(workload, o); got != want {
				t.Errorf("%s: %s: want %v, got %v", name, kind, want, got)
			}
		}
		elsewhere := value.Freeze(object{"kind": "ConfigMap", "metadata": object{"name": "app", "namespace": "m"}}, nil, sources)
		if references(workload, elsewhere) {
			t.Errorf("%s: an object of another namespace", name)
		}
	}
}

// read returns the mask of the fields that restart.references declares of an argument.
func read(argument int) (out *value.Mask) {
	for _, f := range Functions() {
		if f.Name != "restart.references" {
			continue
		}
		for _, path := range f.Reads[argument] {
			names, mask := strings.Split(path, "."), value.KeepAll
			for _, name := range slices.Backward(names) {
				mask = &value.Mask{Fields: map[string]*value.Mask{name: mask}}
			}
			out = value.Merge(out, mask)
		}
	}
	return out
}
