package compile

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// target is the object of an action while the action is compiled.
type target struct {
	ref   plan.ObjectRef
	roots []analyze.Root
	kinds []schema.GVK
	kind  *schema.Type
	// named is what is known of an object that the action names.
	named analyze.Scope
}

// read records that an action reads parts of its target: what it writes is
// compared with what is there.
func (t *target) read(n *analyze.Node, mask *value.Mask) {
	for _, root := range t.roots {
		n.Reads.Add(root, value.Merge(mask, baseMask))
	}
}

func (t *target) write(b *builder, n *analyze.Node, subresource string, verb analyze.WriteVerb) {
	for i, gvk := range t.kinds {
		writes(n, analyze.Write{GVK: gvk, Subresource: subresource, Verb: verb, Scope: b.place(t, t.roots[i])})
	}
}

// event records that Events are made where the target is.
func (t *target) event(b *builder, n *analyze.Node) {
	for _, root := range t.roots {
		at := b.place(t, root)
		at.Name = analyze.ParamValue{}
		writes(n, analyze.Write{GVK: schema.GVK{APIVersion: "v1", Kind: "Event"}, Verb: analyze.WriteEvent, Scope: at})
	}
}

// target resolves the object of an action; nil when it cannot be told.
func (b *builder) target(s *scope, of *v1alpha1.Target, at document.Position) *target {
	switch {
	case of == nil:
		return &target{ref: plan.ObjectRef{Pos: at}, roots: []analyze.Root{analyze.Object}, kinds: []schema.GVK{b.plan.Primary.GVK}, kind: b.plan.Primary.Type}
	case of.Object.Set():
		return b.objectTarget(s, of)
	default:
		return b.namedTarget(s, of)
	}
}

// objectTarget is an expression that gives an object. It must be a whole
// object that the policy reads, so that its kind is known.
func (b *builder) objectTarget(s *scope, of *v1alpha1.Target) *target {
	p, flow := b.alias(s, of.Object)
	if p == nil {
		return nil
	}
	t := &target{ref: plan.ObjectRef{Pos: of.Pos, Expression: p}}
	roots, ok := flow.Roots()
	if !ok {
		b.problems.Hintf(of.Object.Pos(), "object, an input of shape get, or the item of a forEach over an input", "this is not an object of a known kind")
		return nil
	}
	t.roots = roots
	for _, root := range roots {
		t.kinds = append(t.kinds, b.kinds[root])
		t.kind = b.options.Schemas.Of(b.kinds[root])
	}
	for i, root := range roots {
		if root.Kind != analyze.Input || !b.plan.Inputs[root.Index].Off {
			t.ref.Kinds = append(t.ref.Kinds, t.kinds[i])
		}
	}
	t.read(s.node, identity)
	return t
}

// identity is what names an object.
var identity = &value.Mask{Fields: map[string]*value.Mask{"apiVersion": {}, "kind": {}, "metadata": {Fields: map[string]*value.Mask{"name": {}, "namespace": {}}}}}

// namedTarget is {apiVersion, kind, namespace, name}.
func (b *builder) namedTarget(s *scope, of *v1alpha1.Target) *target {
	if !of.APIVersion.Set() || !of.Kind.Set() || !of.Name.Set() {
		b.problems.Hintf(of.Pos, "of: {apiVersion, kind, namespace, name}, or an expression that gives an object", "the object is not named in full")
		return nil
	}
	for _, text := range []v1alpha1.Text{of.APIVersion, of.Kind} {
		if strings.Contains(text.Value, "${") {
			b.problems.Hintf(text.Pos(), "write it out, so that the needed permissions are known", "apiVersion and kind cannot be computed")
			return nil
		}
	}
	gvk := schema.GVK{APIVersion: of.APIVersion.Value, Kind: of.Kind.Value}
	b.outright(gvk, of.Pos, of.Namespace.Node)
	t := &target{kinds: []schema.GVK{gvk}, kind: b.options.Schemas.Of(gvk)}
	t.ref = plan.ObjectRef{Pos: of.Pos, GVK: gvk, Namespace: b.template(s, of.Namespace), Name: b.template(s, of.Name)}
	t.named = analyze.Scope{Namespace: knownText(t.ref.Namespace), Name: knownText(t.ref.Name)}
	t.ref.Target = b.targetIndex(gvk, t.named)
	t.roots = []analyze.Root{targetRoot(t.ref.Target)}
	b.kinds[t.roots[0]] = gvk
	return t
}

// targetIndex returns the target for a kind, narrowed as far as a place is known.
func (b *builder) targetIndex(gvk schema.GVK, at analyze.Scope) int {
	from, narrow := b.narrowed(gvk, at)
	for i, t := range b.plan.Targets {
		if t.Source == from && t.Narrow == narrow {
			return i
		}
	}
	b.plan.Targets = append(b.plan.Targets, &plan.Target{Source: from, Narrow: narrow})
	return len(b.plan.Targets) - 1
}

// identityFields can never be written.
var identityFields = []string{"apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.generation", "metadata.creationTimestamp", "metadata.deletionTimestamp", "metadata.managedFields"}

// protected refuses writes to what makes an object the object that it is.
func (b *builder) protected(_ *target, path []string, at document.Position) {
	if slices.Contains(identityFields, strings.Join(path, ".")) {
		b.problems.Errorf(at, "%s cannot be written", strings.Join(path, "."))
	}
}
