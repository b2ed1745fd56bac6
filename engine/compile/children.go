package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/schema"
)

// withChildren returns a policy with the inputs, variables and rules that its
// children come to.
func withChildren(doc *v1alpha1.Policy, k *kinds, problems *findings) *v1alpha1.Policy {
	if len(doc.Spec.Children) == 0 {
		if f := doc.Spec.Finalizer.Name; f.Set() {
			problems.Hintf(f.Pos(), "declare children; rules keep a finalizer by the action finalizer", "the finalizer holds the primary object until its children are gone, and the policy has no children")
		}
		if doc.Spec.Summary != nil {
			problems.Hintf(doc.Spec.Summary.Pos, "declare children; rules keep a condition by the action condition", "the summary says how the children are, and the policy has no children")
		}
		return doc
	}
	parts := children.Expand(doc, func(apiVersion, kind string) (namespaced, known bool) {
		return k.namespaced(schema.GVK{APIVersion: apiVersion, Kind: kind})
	}, problems)
	out := *doc
	out.Spec.Inputs = slices.Concat(doc.Spec.Inputs, owned(parts.Inputs, problems))
	out.Spec.Variables = slices.Concat(doc.Spec.Variables, load.Items[v1alpha1.Variable](parts.Variables, "variables", &problems.Problems))
	out.Spec.Rules = slices.Concat(pruning(parts, problems), load.Items[v1alpha1.Rule](parts.Summary, "rules", &problems.Problems), doc.Spec.Rules)
	out.Node = extended(doc.Node, parts)
	return &out
}

func owned(nodes []*document.Node, problems *findings) []v1alpha1.Input {
	out := load.Items[v1alpha1.Input](nodes, "inputs", &problems.Problems)
	for i := range out {
		out[i].Owned = true
	}
	return out
}

func pruning(parts children.Parts, problems *findings) []v1alpha1.Rule {
	out := load.Items[v1alpha1.Rule](parts.Rules, "rules", &problems.Problems)
	for i := range parts.Held {
		if f := out[i].Do[0].Finalizer; f != nil {
			f.Children = true
		}
	}
	for i, set := range parts.Sets {
		out[parts.Held+i].Child = set
	}
	for i := len(out) - parts.Prune; i < len(out); i++ {
		out[i].Prunes, out[i].Former = true, i >= len(out)-parts.Former
	}
	return out
}

// extended returns a document with the parts in the lists of its spec.
func extended(doc *document.Node, parts children.Parts) *document.Node {
	spec := doc.Get("spec")
	sections := map[string][]*document.Node{
		"inputs":    slices.Concat(spec.Get("inputs").Items(), parts.Inputs),
		"variables": slices.Concat(spec.Get("variables").Items(), parts.Variables),
		"rules":     slices.Concat(parts.Rules, parts.Summary, spec.Get("rules").Items()),
	}
	for name, items := range sections {
		spec = spec.With(name, document.NewList(spec.Pos, items...))
	}
	return doc.With("spec", spec)
}
