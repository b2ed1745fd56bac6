package apiserver

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/schema"
)

// published is a custom kind as an API server publishes it, with the part of the metadata
// that the test needs.
const published = `{"components": {"schemas": {
	"com.example.v1.Gear": {
		"type": "object",
		"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Gear"}],
		"properties": {
			"apiVersion": {"type": "string"}, "kind": {"type": "string"},
			"metadata": {"description": "Standard object's metadata.", "allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]},
			"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}
		}
	},
	"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {
		"type": "object",
		"properties": {
			"name": {"type": "string"}, "namespace": {"type": "string"}, "uid": {"type": "string"}, "resourceVersion": {"type": "string"},
			"generation": {"type": "integer"}, "creationTimestamp": {"type": "string"},
			"managedFields": {"type": "array", "items": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry"}]}, "x-kubernetes-list-type": "atomic"}
		}
	},
	"io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry": {
		"type": "object",
		"properties": {
			"apiVersion": {"type": "string"}, "fieldsType": {"type": "string"}, "manager": {"type": "string"}, "operation": {"type": "string"}, "time": {"type": "string"},
			"fieldsV1": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"}
		}
	},
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": {"type": "object"}
}}}`

// TestPublishedKinds: commands that read a cluster know custom kinds as it publishes them.
// Who manages their fields is kept.
func TestPublishedKinds(t *testing.T) {
	t.Parallel()
	set := schema.NewSet(schema.Builtin())
	if err := set.AddOpenAPI([]byte(published)); err != nil {
		t.Fatal(err)
	}
	s := New(set, func() time.Time { return start })
	gear := Object{"apiVersion": "example.com/v1", "kind": "Gear", "metadata": Object{"namespace": "ns", "name": "g"}, "spec": Object{"size": int64(1)}}
	made, err := s.Apply(ID(gear), gear, Options{Manager: "m"})
	if err != nil {
		t.Fatal(err)
	}
	again := New(set, func() time.Time { return start })
	again.Load(made)
	for _, o := range []Object{made, again.Get(ID(gear))} {
		entries, _ := metadata(o)["managedFields"].([]any)
		if len(entries) != 1 {
			t.Fatalf("%v", metadata(o))
		}
		if diff := cmp.Diff(Object{"f:spec": Object{"f:size": Object{}}}, entries[0].(Object)["fieldsV1"]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
