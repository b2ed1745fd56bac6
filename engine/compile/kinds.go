package compile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// kinds knows the kinds of objects, and rejects what cannot be of them.
type kinds struct {
	schemas  *schema.Set
	problems *findings
}

// of returns the type of the objects of a kind. A kind without a schema is
// reported where it is written.
func (k *kinds) of(version, kind v1alpha1.Text) (schema.GVK, *schema.Type) {
	gvk := schema.GVK{APIVersion: version.Value, Kind: kind.Value}
	if _, known := k.schemas.Kind(gvk); !known {
		k.untyped(gvk, version, kind)
	}
	return gvk, k.schemas.Of(gvk)
}

// typeOf returns the type of the objects of a kind, which may be unknown.
func (k *kinds) typeOf(gvk schema.GVK) *schema.Type { return k.schemas.Of(gvk) }

// writesStatus rejects a write of the status of a kind that does not have the subresource.
func (k *kinds) writesStatus(t *target, at document.Position) {
	for _, c := range t.candidates {
		if k.schemas.LacksStatus(c.gvk) {
			k.problems.Hintf(at, "add subresources: {status: {}} to the version in its CRD", "%s %s has no subresource status, by which its status is written", c.gvk.APIVersion, c.gvk.Kind)
		}
	}
}

// owner reports an owner whose kind is not served.
func (k *kinds) owner(gvk schema.GVK, at document.Position) {
	if k.schemas.Unserved(gvk) {
		k.problems.Reportf(document.UnknownKind, at, cmp.Or(inVersions(gvk.Kind), closest(gvk.Kind, k.schemas.Kinds(gvk.APIVersion))), "%s has no kind %q, so the garbage collector finds no such owner", gvk.APIVersion, gvk.Kind)
	}
}

// written returns the types of what is written.
func (k *kinds) written(writes []analyze.Write) map[schema.GVK]plan.Kind {
	out := map[schema.GVK]plan.Kind{}
	for _, w := range writes {
		out[w.GVK] = plan.Kind{Type: k.typeOf(w.GVK), Naming: k.schemas.Naming(w.GVK)}
	}
	return out
}

// scale returns the field that the subresource scale of a kind sets, as far as it is
// known; "" is a kind without one.
func (k *kinds) scale(gvk schema.GVK) (path string, known bool) { return k.schemas.Scale(gvk) }

// shared returns the type of objects of any of some kinds.
func (k *kinds) shared(list ...schema.GVK) *schema.Type {
	names, types := make([]string, len(list)), make([]*schema.Type, len(list))
	for i, gvk := range list {
		names[i], types[i] = gvk.Kind, k.schemas.Of(gvk)
	}
	return schema.Shared(names, types)
}

// gvks returns kinds as they are written.
func gvks(docs []v1alpha1.ObjectKind) (out []schema.GVK) {
	for _, doc := range docs {
		out = append(out, schema.GVK{APIVersion: doc.APIVersion.Value, Kind: doc.Kind.Value})
	}
	return out
}

// namespaced reports whether a kind has namespaces, as far as it is known.
func (k *kinds) namespaced(gvk schema.GVK) (namespaced, known bool) {
	r, known := k.schemas.Resource(gvk)
	return r.Namespaced, known
}

// untyped says that no schema is known of a kind. In a group of Kubernetes
// itself, one that is no kind of it is an error.
func (k *kinds) untyped(gvk schema.GVK, version, kind v1alpha1.Text) {
	if !k.writtenOut(version, kind) {
		return
	}
	if gvk.APIVersion == "core/v1" {
		k.problems.Reportf(document.UnknownKind, version.Pos(), "write apiVersion: v1", "the kinds of the core have no group")
		return
	}
	known := schema.BuiltinKinds(gvk.APIVersion)
	if len(known) > 0 && !slices.Contains(known, gvk.Kind) {
		k.problems.Reportf(document.UnknownKind, kind.Pos(), cmp.Or(inVersions(gvk.Kind), closest(gvk.Kind, known)), "%s has no kind %q", gvk.APIVersion, gvk.Kind)
		return
	}
	if wasBeta(gvk) {
		k.problems.Reportf(document.UnknownKind, version.Pos(), inVersions(gvk.Kind), "Kubernetes no longer serves %s", gvk.APIVersion)
		return
	}
	hint := closest(gvk.Kind, k.schemas.Kinds(gvk.APIVersion))
	k.problems.Reportf(document.UnknownSchema, kind.Pos(), cmp.Or(hint, "put its CRD into a folder schemas beside the policies, or name the folder with --schemas"), "no schema is known for %s %s; its fields are not checked", gvk.APIVersion, gvk.Kind)
}

// writtenOut reports an apiVersion or a kind that is computed.
func (k *kinds) writtenOut(texts ...v1alpha1.Text) bool {
	for _, text := range texts {
		if strings.Contains(text.Value, "${") {
			k.problems.Hintf(text.Pos(), "write it out, so that the needed permissions are known", "apiVersion and kind cannot be computed")
			return false
		}
	}
	return true
}

// inNamespace rejects a namespace for a kind that belongs to none.
func (k *kinds) inNamespace(gvk schema.GVK, namespace *document.Node) {
	if namespaced, known := k.namespaced(gvk); namespace != nil && known && !namespaced {
		k.problems.Hintf(namespace.Pos, "leave it out", "a %s belongs to no namespace", gvk.Kind)
	}
}

// outright rejects a namespace where there can be none, and an object without
// one that must have it: it would never be found.
func (k *kinds) outright(gvk schema.GVK, at document.Position, namespace *document.Node) {
	k.inNamespace(gvk, namespace)
	if namespaced, known := k.namespaced(gvk); namespace == nil && known && namespaced {
		k.problems.Hintf(at, "add namespace: NAME", "the %s is named without its namespace", gvk.Kind)
	}
}

// wasBeta reports whether a version that is not known is one that Kubernetes has removed: the
// group has the kind in another version, or has left it to others.
func wasBeta(gvk schema.GVK) bool {
	group, version, _ := strings.Cut(gvk.APIVersion, "/")
	return strings.Contains(version, "beta") && slices.ContainsFunc(schema.BuiltinVersions(gvk.Kind), func(known string) bool {
		return group == "extensions" || strings.HasPrefix(known, group+"/")
	})
}

// inVersions names the API versions that have a kind: one of apps/v1 is looked for in v1.
func inVersions(kind string) string {
	versions := schema.BuiltinVersions(kind)
	if len(versions) == 0 {
		return ""
	}
	return "write apiVersion: " + strings.Join(versions, ", or ")
}

// closest suggests a kind: the plural of one is a common mistake.
func closest(kind string, known []string) string {
	for _, k := range known {
		if k != kind && (strings.EqualFold(k+"s", kind) || strings.EqualFold(k+"es", kind) || strings.EqualFold(k, kind)) {
			return document.DidYouMean(k, []string{k})
		}
	}
	return document.DidYouMean(kind, known)
}

// notKept reports fields of an object that is made or applied which the API server does not
// keep as they are written.
func (k *kinds) notKept(gvk schema.GVK, manifest *document.Node, problems *findings) {
	structure, _ := k.schemas.Structure(gvk)
	if status := manifest.Get("status"); status != nil && structure != nil && structure.Status {
		problems.Reportf(document.NotKept, status.Pos, "write it with the action status, if it is not the controller of the "+gvk.Kind+" that does",
			"the API server drops the status of a %s that is made or applied", gvk.Kind)
	}
	encoded(gvk, manifest, problems)
}

// encoded reports texts of a Secret that the API server moves to another field.
func encoded(gvk schema.GVK, fields *document.Node, problems *findings) {
	if texts := fields.Get("stringData"); texts != nil && gvk == schema.Secret {
		problems.Reportf(document.NotKept, texts.Pos, "data: {password: \"${base64.encode(text)}\"}",
			"the API server moves stringData of a Secret to data: it is not seen when somebody changes it, and a patch of it is written at every evaluation")
	}
}
