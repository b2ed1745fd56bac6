package apiserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/schema"
)

// TestTimesOfBuiltinKinds: they are stored in UTC, cut to seconds or microseconds. What a
// CRD calls a date-time stays as it was written.
func TestTimesOfBuiltinKinds(t *testing.T) {
	t.Parallel()
	schemas := schema.NewSet(schema.Builtin())
	if err := schemas.AddCRD([]byte(`{kind: CustomResourceDefinition, spec: {group: acme.io, scope: Namespaced, names: {kind: T, plural: ts}, versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {at: {type: string, format: date-time}}}}}}}]}}`)); err != nil {
		t.Fatal(err)
	}
	const text = "2026-01-01T12:00:00.1234567+02:00"
	for name, tc := range map[string]struct {
		version, kind, field string
		given, want          string
	}{
		"microseconds": {"coordination.k8s.io/v1", "Lease", "renewTime", text, "2026-01-01T10:00:00.123456Z"},
		// kube-apiserver refuses these two; nothing is validated here.
		"more digits": {"coordination.k8s.io/v1", "Lease", "renewTime", "2026-01-01T12:00:00Z", "2026-01-01T12:00:00.000000Z"},
		"no time":     {"coordination.k8s.io/v1", "Lease", "renewTime", "noon", "noon"},
		"of a CRD":    {"acme.io/v1", "T", "at", text, text},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(schemas, newTestServer().now)
			got, err := s.Create(Object{"apiVersion": tc.version, "kind": tc.kind, "metadata": Object{"name": "a", "namespace": "ns"}, "spec": Object{tc.field: tc.given}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Object{tc.field: tc.want}, got["spec"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}
