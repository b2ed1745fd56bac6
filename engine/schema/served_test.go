package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const servedDocument = `{
	"paths": {
		"/apis/example.com/v1/": {"get": {}},
		"/apis/example.com/v1/namespaces/{namespace}/lamps": {"get": {"x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "LampList"}}},
		"/apis/example.com/v1/namespaces/{namespace}/lamps/{name}": {"get": {"x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Lamp"}}},
		"/apis/example.com/v1/namespaces/{namespace}/lamps/{name}/scale": {"get": {"x-kubernetes-group-version-kind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}}},
		"/apis/example.com/v1/halls/{name}": {"get": {"x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Hall"}}},
		"/apis/example.com/v1/halls/{name}/status": {"put": {"x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Hall"}}},
		"/apis/example.com/v1/watch/halls/{name}": {"get": {"x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Hall"}}},
		"/apis/example.com/v1/watch/namespaces/{namespace}/lamps/{name}": {"get": {"x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Lamp"}}}
	},
	"components": {"schemas": {
		"Lamp": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Lamp"}], "properties": {
			"metadata": {"type": "object"}, "status": {"type": "object"},
			"spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}}}},
		"Hall": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Hall"}], "properties": {
			"metadata": {"type": "object"}, "status": {"type": "object"}}}
	}}
}`

// TestServed: the paths of a document say under which names kinds are served, and which
// subresources they have.
func TestServed(t *testing.T) {
	t.Parallel()
	s := NewSet(nil)
	if err := s.AddOpenAPI([]byte(servedDocument)); err != nil {
		t.Fatal(err)
	}
	type how struct {
		Resource     Resource
		Status       bool
		Scale        string
		ScaleIsKnown bool
	}
	for kind, want := range map[string]how{
		"Lamp": {Resource: Resource{Name: "lamps", Namespaced: true}, Scale: "spec.replicas"},
		"Hall": {Resource: Resource{Name: "halls"}, Status: true, ScaleIsKnown: true},
	} {
		gvk := GVK{APIVersion: "example.com/v1", Kind: kind}
		resource, _ := s.Resource(gvk)
		scale, known := s.Scale(gvk)
		structure, _ := s.Structure(gvk)
		got := how{resource, structure.Status, scale, known}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", kind, diff)
		}
		if s.LacksStatus(gvk) == want.Status {
			t.Errorf("%s: lacks status is %v", kind, s.LacksStatus(gvk))
		}
	}
}

// TestPublishedByOthers: a schema that no CRD can have, such as that of a kind of an
// aggregated API server, has no validator.
func TestPublishedByOthers(t *testing.T) {
	t.Parallel()
	s := NewSet(nil)
	err := s.AddOpenAPI([]byte(`{"components": {"schemas": {
		"Meta": {"type": "object", "properties": {"metadata": {"type": "object"}}},
		"Sum": {"allOf": [{"$ref": "#/components/schemas/Meta"}], "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Sum"}]},
		"Part": {"type": "object", "properties": {"metadata": {"type": "object"}, "spec": {"$ref": "#/components/schemas/Meta"}}, "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Part"}]}
	}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Sum", "Part"} {
		structure, ok := s.Structure(GVK{APIVersion: "example.com/v1", Kind: kind})
		if !ok || structure.Validator() != nil {
			t.Errorf("%s: known %t, with a validator", kind, ok)
		}
	}
}
