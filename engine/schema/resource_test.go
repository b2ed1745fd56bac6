package schema

import "testing"

// TestResources: built-in kinds are served as a real API server says, custom
// ones as their CRD says, others nobody knows how.
func TestResources(t *testing.T) {
	t.Parallel()
	crd := `
kind: CustomResourceDefinition
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Mouse, plural: mice}
  versions: [{name: v1, schema: {openAPIV3Schema: {type: object}}}, {name: v2}]
`
	set := NewSet(NewSet(nil))
	if err := set.AddCRD([]byte(crd)); err != nil {
		t.Fatal(err)
	}
	added := NewSet(nil)
	added.AddAll(set)
	for gvk, want := range map[GVK]Resource{
		{"v1", "Node"}:                            {Name: "nodes", Namespaced: false},
		{"v1", "Endpoints"}:                       {Name: "endpoints", Namespaced: true},
		{"apps/v1", "Deployment"}:                 {Name: "deployments", Namespaced: true, Scale: true},
		{"networking.k8s.io/v1", "Ingress"}:       {Name: "ingresses", Namespaced: true},
		{"policy/v1", "PodDisruptionBudget"}:      {Name: "poddisruptionbudgets", Namespaced: true},
		{"storage.k8s.io/v1", "CSINode"}:          {Name: "csinodes", Namespaced: false},
		{"scheduling.k8s.io/v1", "PriorityClass"}: {Name: "priorityclasses", Namespaced: false},
		{"example.com/v1", "Mouse"}:               {Name: "mice", Namespaced: true},
		{"example.com/v2", "Mouse"}:               {Name: "mice", Namespaced: true},
		{"example.com/v3", "Mouse"}:               {},
	} {
		got, ok := added.Resource(gvk)
		if got != want || ok != (want.Name != "") {
			t.Errorf("%s is served as %+v (%v), want %+v", gvk, got, ok, want)
		}
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"v1": "", "apps/v1": "apps", "a.b/v1beta1": "a.b"} {
		if got := (GVK{APIVersion: version}).Group(); got != want {
			t.Errorf("the group of %s is %q, want %q", version, got, want)
		}
	}
}

// TestStatusOfAddedKinds: a set that has the kinds of another knows as well which of them
// have no subresource status.
func TestStatusOfAddedKinds(t *testing.T) {
	t.Parallel()
	const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Fleet, plural: fleets}
  versions: [{name: v1, schema: {openAPIV3Schema: {type: object}}}, {name: v2, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object}}}]
`
	set, added := NewSet(nil), NewSet(nil)
	if err := set.AddCRD([]byte(crd)); err != nil {
		t.Fatal(err)
	}
	added.AddAll(set)
	for version, want := range map[string]bool{"v1": true, "v2": false} {
		if got := added.LacksStatus(GVK{APIVersion: "example.com/" + version, Kind: "Fleet"}); got != want {
			t.Errorf("%s: %t", version, got)
		}
	}
}
