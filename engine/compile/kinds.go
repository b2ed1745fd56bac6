package compile

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// untypedKind says that no schema is known of a kind. In a group of Kubernetes
// itself, one that is spelt almost like a kind of it is a mistake.
func (b *builder) untypedKind(gvk schema.GVK, version, kind v1alpha1.Text) {
	if gvk.APIVersion == "core/v1" {
		b.problems.Hintf(version.Pos(), "write apiVersion: v1", "the kinds of the core have no group")
		return
	}
	if hint := closest(gvk.Kind, schema.BuiltinKinds(gvk.APIVersion)); hint != "" {
		b.problems.Hintf(kind.Pos(), hint, "%s has no kind %q", gvk.APIVersion, gvk.Kind)
		return
	}
	b.problems.Warnf(kind.Pos(), "no schema is known for %s %s; its fields are not checked", gvk.APIVersion, gvk.Kind)
}

// closest suggests a kind: the plural of one is a common mistake.
func closest(kind string, kinds []string) string {
	for _, k := range kinds {
		if k != kind && (strings.EqualFold(k+"s", kind) || strings.EqualFold(k+"es", kind) || strings.EqualFold(k, kind)) {
			return document.DidYouMean(k, []string{k})
		}
	}
	if slices.Contains(kinds, kind) {
		return "" // it exists; only its schema is not built in
	}
	return document.DidYouMean(kind, kinds)
}
