package verify

import (
	"testing"

	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

const choosy = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: choosy}
spec:
  for: {apiVersion: v1, kind: ConfigMap, selector: "team in (a,b),live", namespaces: [shop]}
  inputs: [{name: agents, apiVersion: v1, kind: Pod, namespace: '"agents"', selector: app=agent}]
  rules:
    - name: mark
      when: size(inputs.agents) > 0
      do: [{labels: {set: {marked: "yes"}}}]
`

// TestMadeAsSelected: the objects of a world that is made are those that the policies see.
func TestMadeAsSelected(t *testing.T) {
	t.Parallel()
	b, err := source.Load([]string{withCRDs(t, choosy)}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	w, err := worldOf(&Options{Policies: b.Policies, Schemas: b.Schemas})
	if err != nil || len(w.objects) != 2*defaultPerKind {
		t.Fatal(err, w.objects)
	}
	for _, o := range w.objects {
		meta, _ := o["metadata"].(simulate.Object)
		labels, _ := meta["labels"].(simulate.Object)
		namespace, key, label := "shop", "team", "a"
		if o["kind"] == "Pod" {
			namespace, key, label = "agents", "app", "agent"
		}
		if meta["namespace"] != namespace || labels[key] != label {
			t.Errorf("%v is not in %s with %s=%s", o, namespace, key, label)
		}
	}
}
