package load

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// MaxKinds bounds the kinds of one policy document, since each is a policy that is compiled,
// watched and kept in the history, and the kinds of one input.
const MaxKinds = 20

// maxName is the longest name of a policy.
const maxName = 63

// eachKind returns the policies of a document: one for each of its kinds. They share the
// nodes of all that is the same for them.
func eachKind(p *v1alpha1.Policy, problems *document.Problems) []*v1alpha1.Policy {
	kinds := p.Node.Get("spec").Get("for").Get("kinds")
	if kinds == nil {
		return []*v1alpha1.Policy{p}
	}
	if !problems.HasErrors() {
		rightKinds(p, kinds, problems)
	}
	if problems.HasErrors() {
		return nil
	}
	var nodes []*document.Node
	for _, kind := range p.Spec.For.Kinds {
		nodes = append(nodes, ofKind(p, kind))
	}
	var out []*v1alpha1.Policy
	for _, one := range Items[v1alpha1.Policy](nodes, "the document", problems) {
		one.Of = p.Metadata.Name.Value
		out = append(out, &one)
	}
	return out
}

// ofKind returns the document of the policy for one of the kinds.
func ofKind(p *v1alpha1.Policy, kind v1alpha1.ObjectKind) *document.Node {
	name := *p.Metadata.Name.Node
	name.Text = kindName(p.Metadata.Name.Value, kind)
	spec := p.Node.Get("spec")
	primary := without(spec.Get("for"), "kinds").With("apiVersion", kind.APIVersion.Node).With("kind", kind.Kind.Node)
	return p.Node.With("metadata", p.Node.Get("metadata").With("name", &name)).With("spec", spec.With("for", primary))
}

// kindName is the name of the policy for one of the kinds of a document. It depends on
// that kind alone: a name is an identity, with permissions, params and a history.
func kindName(document string, kind v1alpha1.ObjectKind) string {
	return document + "-" + strings.ToLower(kind.Kind.Value)
}

// without returns a mapping without a field.
func without(n *document.Node, field string) *document.Node {
	out := *n
	at := slices.IndexFunc(n.Keys, func(key *document.Node) bool { return key.Text == field })
	out.Keys, out.Values = slices.Delete(slices.Clone(n.Keys), at, at+1), slices.Delete(slices.Clone(n.Values), at, at+1)
	return &out
}

// rightKinds rejects kinds of which no policies can be made. list is where they are written.
func rightKinds(p *v1alpha1.Policy, list *document.Node, problems *document.Problems) {
	f, name := p.Spec.For, p.Metadata.Name
	switch {
	case f.APIVersion.Set() || f.Kind.Set():
		problems.Hintf(list.Pos, "leave out apiVersion and kind", "spec.for has kinds, and a kind")
	case len(f.Kinds) == 0:
		problems.Hintf(list.Pos, "kinds: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}]", "spec.for.kinds is empty")
	case len(f.Kinds) > MaxKinds:
		problems.Hintf(list.Pos, "write another document for the others", "spec.for has %d kinds, at most %d are allowed", len(f.Kinds), MaxKinds)
	case !name.Set():
		problems.Errorf(p.Pos, "metadata.name is missing")
	default:
		names := map[string]v1alpha1.ObjectKind{}
		for _, kind := range f.Kinds {
			rightKind(kind, name, names, problems)
		}
	}
}

// rightKind rejects a kind whose policy would have no name, or that of another one.
func rightKind(kind v1alpha1.ObjectKind, of v1alpha1.Text, names map[string]v1alpha1.ObjectKind, problems *document.Problems) {
	if !kind.APIVersion.Set() || !kind.Kind.Set() {
		problems.Hintf(kind.Pos, "such as {apiVersion: v1, kind: ConfigMap}", "a kind of spec.for needs apiVersion and kind")
		return
	}
	name := kindName(of.Value, kind)
	first, taken := names[name]
	names[name] = kind
	switch {
	case taken && first.APIVersion.Value == kind.APIVersion.Value:
		problems.Hintf(kind.Pos, "leave it out", "spec.for has the kind %s twice", kind.Kind.Value)
	case taken:
		problems.Hintf(kind.Pos, "write another document for it", "the kinds %s of %s and of %s would both be the policy %q", kind.Kind.Value, first.APIVersion.Value, kind.APIVersion.Value, name)
	case len(name) > maxName:
		problems.Hintf(of.Pos(), "shorten metadata.name", "the policy for the kind %s would be %q: a name has at most %d characters", kind.Kind.Value, name, maxName)
	}
}
