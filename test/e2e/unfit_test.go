package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/test/controlplane"
)

const lamps = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: lamps}
spec:
  for: {apiVersion: example.com/v1, kind: Lamp}
  rules:
    - name: light
      do: [{status: {lit: true}}]
`

// lampCRD returns a CRD whose subresources are given in YAML.
func lampCRD(t *testing.T, subresources string) *unstructured.Unstructured {
	t.Helper()
	var out object
	if err := yaml.Unmarshal([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Lamp, plural: lamps}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: `+subresources+`
      schema:
        openAPIV3Schema: {type: object, properties: {spec: {type: object}, status: {type: object, properties: {lit: {type: boolean}}}}}
`), &out); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: out}
}

// TestAKindThatDoesNotFit: a policy that waited for a kind is refused when the kind comes
// and does not fit it, and begins to run when the CRD is corrected: nobody edits the policy.
func TestAKindThatDoesNotFit(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, false)
	c.home()
	c.putSet("lamps", map[string]string{"lamps.yaml": lamps})
	edict := c.fromSets(nil)
	c.wants("lamps", "Ready", "False Waiting")
	definitions := c.client.Resource(crdResource)
	if _, err := definitions.Create(t.Context(), lampCRD(t, "{}"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.wants("lamps", "Ready", "False", "example.com/v1 Lamp has no subresource status")
	before, err := definitions.Get(t.Context(), "lamps.example.com", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	crd := lampCRD(t, "{status: {}}")
	crd.SetResourceVersion(before.GetResourceVersion())
	if _, err := definitions.Update(t.Context(), crd, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	edict.running("lamps")
	c.wants("lamps", "Ready", "True Enforcing")
	lamp := c.client.Resource(kschema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "lamps"})
	one := &unstructured.Unstructured{Object: object{"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": object{"name": "a"}}}
	if _, err := lamp.Create(t.Context(), one, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lamp", func() string {
		o, err := lamp.Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if lit, _, _ := unstructured.NestedBool(o.Object, "status", "lit"); !lit {
			return "it is not lit"
		}
		return ""
	})
}
