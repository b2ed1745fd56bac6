package fielddoc_test

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/lsp/fielddoc"
	"github.com/edict-dev/edict/engine/schema"
)

// TestOf finds descriptions by the names of types in engine/schema.
func TestOf(t *testing.T) {
	t.Parallel()
	pod := schema.Builtin().Of(schema.GVK{APIVersion: "v1", Kind: "Pod"})
	spec := pod.Field("spec")
	for _, tc := range []struct{ names, field, want string }{
		{spec.Name, "nodeName", "NodeName indicates in which node"},
		{spec.Field("volumes").Item().Name, "configMap", "configMap represents a configMap"}, // of a type whose fields are inlined
		{pod.Field("metadata").Name, "labels", "Map of string keys and values"},
		{schema.Metadata().Name, "finalizers", "Must be empty before the object is deleted"},
		{schema.Metadata().Field("ownerReferences").Item().Name, "controller", "managing controller"},
		{"none|" + spec.Name, "nodeName", "NodeName indicates"},
	} {
		if got := fielddoc.Of(tc.names, tc.field); !strings.Contains(got, tc.want) {
			t.Errorf("%s of %s: %q", tc.field, tc.names, got)
		}
	}
	if got := fielddoc.Of(spec.Name, "nothing") + fielddoc.Of("", "spec") + fielddoc.Of("Metadata", "name"); got != "" {
		t.Error(got)
	}
}
