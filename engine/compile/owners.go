package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/schema"
)

// ownedMetadata records what writing fields of metadata needs or leaves behind:
// finalizers, and owners whose deletion is blocked.
func (ts *targets) ownedMetadata(s *scope, t *target, n *document.Node, fields *cel.Template) {
	finalizerList(s, t, n.Get("metadata").Get("finalizers"), fields.Field("metadata").Field("finalizers"))
	owners := n.Get("metadata").Get("ownerReferences")
	if owners == nil {
		return
	}
	if owners.Kind != document.List {
		unknownOwner(owners, s.problems)
		return
	}
	for _, one := range owners.Values {
		ts.owner(s, t, one)
	}
}

// owner rejects a reference to what is no owner, and records the permission to block an
// owner's deletion, which clusters with the admission plugin
// OwnerReferencesPermissionEnforcement require.
func (ts *targets) owner(s *scope, t *target, ref *document.Node) {
	gvk := schema.GVK{APIVersion: literal(ref, "apiVersion"), Kind: literal(ref, "kind")}
	block := ref.Get("blockOwnerDeletion")
	if ref.Kind == document.Map && ref.Get("uid") == nil {
		s.problems.Hintf(ref.Pos, `add uid: "${object.metadata.uid}" if the primary object is the owner`, "the owner reference has no uid, and the API server refuses the object")
	}
	if gvk.APIVersion != "" && gvk.Kind != "" {
		ts.kinds.owner(gvk, ref.Get("kind").Pos)
	}
	switch {
	case ref.Kind == document.Map && (block == nil || block.Text == "false"):
	case gvk.APIVersion == "" || gvk.Kind == "":
		unknownOwner(ref, s.problems)
	default:
		for _, c := range t.candidates {
			s.node.Write(analyze.Write{GVK: gvk, Subresource: "finalizers", Verb: analyze.WriteUpdate, Scope: analyze.Scope{Namespace: c.at.Namespace, Input: c.at.Input}})
		}
	}
}

// ownerEntry is owner for a list entry, which is written in two parts.
func (ts *targets) ownerEntry(s *scope, t *target, a *v1alpha1.PatchAction) {
	if a.Entry.Node.Kind != document.Map {
		unknownOwner(a.Entry.Node, s.problems)
		return
	}
	whole := mapping(a.By, a.Pos)
	whole.Keys = append(whole.Keys, a.Entry.Node.Keys...)
	whole.Values = append(whole.Values, a.Entry.Node.Values...)
	ts.owner(s, t, whole)
}

func unknownOwner(n *document.Node, problems *findings) {
	problems.Reportf(document.ComputedOwner, n.Pos, "", "the owner is computed; if its deletion is to be blocked, the permission for that (update on its finalizers) has to be granted by hand")
}

// finalizerList records the finalizers of a list that is written.
func finalizerList(s *scope, t *target, n *document.Node, list *cel.Template) {
	switch {
	case n == nil:
	case n.Kind == document.List:
		for i, item := range n.Values {
			t.finalizer(s.node, item.Pos, knownText(list.Item(i)))
		}
	case n.Kind != document.Null:
		t.finalizer(s.node, n.Pos, analyze.ParamValue{})
	}
}
