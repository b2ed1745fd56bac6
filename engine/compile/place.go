package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// knownText says what is known of a text before any evaluation.
func knownText(t *cel.Template) analyze.ParamValue {
	if t == nil {
		return analyze.ParamValue{}
	}
	text, ok := value.Str(t.Constant())
	if !ok {
		return analyze.ParamValue{}
	}
	if p := t.Single(); p != nil {
		return known(text, p)
	}
	out := analyze.ParamValue{Value: text}
	t.Walk(func(p *cel.Program) { out.Computed = out.Computed || len(p.Names()) > 0 })
	return out
}

// known says how the text that an expression over params computes follows from
// them: it is one of them, or made of them.
func known(text string, p *cel.Program) analyze.ParamValue {
	if p == nil {
		return analyze.ParamValue{Value: text}
	}
	if name := analyze.ParamName(p); name != "" {
		return analyze.ParamValue{Value: text, Param: name}
	}
	return analyze.ParamValue{Value: text, Computed: len(p.Names()) > 0}
}

// within is the one namespace of a primary. That one is left of a list which
// is computed says nothing about other settings.
func within(t *cel.Template, namespaces []string) analyze.ParamValue {
	switch {
	case len(namespaces) != 1:
		return analyze.ParamValue{}
	case t.Len() == 1:
		return knownText(t.Item(0))
	default:
		return analyze.ParamValue{Value: namespaces[0], Computed: true}
	}
}

// place returns where the objects of a root are.
func (b *builder) place(t *target, root analyze.Root) analyze.Scope {
	switch root.Kind {
	case analyze.Primary:
		return analyze.Scope{Namespace: b.plan.Primary.Within}
	case analyze.Input:
		return b.plan.Inputs[root.Index].Scope()
	default:
		return t.named
	}
}

// named says which object an input gets, as far as params alone tell. A name
// alone means the primary's own namespace.
func (b *builder) named(get *cel.Program, text v1alpha1.Text) analyze.Scope {
	switch {
	case get == nil:
		return analyze.Scope{}
	case analyze.OnlyParams(get):
		return b.constantName(text)
	case get.Type().IsExactType(cel.StringType):
		return analyze.Scope{Namespace: b.plan.Primary.Within}
	default:
		return analyze.Scope{}
	}
}

func (b *builder) constantName(text v1alpha1.Text) analyze.Scope {
	v, program := b.paramValue(b.paramScope(), text)
	part := func(v value.Value) analyze.ParamValue {
		s, _ := value.Str(v)
		return known(s, program)
	}
	if m, ok := v.(*value.Map); ok {
		return analyze.Scope{Namespace: part(value.Path(m, "namespace")), Name: part(value.Path(m, "name"))}
	}
	return analyze.Scope{Namespace: b.plan.Primary.Within, Name: part(v)}
}

// inNamespace refuses a namespace for a kind that belongs to none.
func (b *builder) inNamespace(gvk schema.GVK, namespace *document.Node) {
	if r, ok := b.options.Schemas.Resource(gvk); namespace != nil && ok && !r.Namespaced {
		b.problems.Hintf(namespace.Pos, "leave it out", "a %s belongs to no namespace", gvk.Kind)
	}
}

// outright refuses a namespace where there can be none, and an object without
// one that must have it: it would never be found.
func (b *builder) outright(gvk schema.GVK, at document.Position, namespace *document.Node) {
	b.inNamespace(gvk, namespace)
	if r, ok := b.options.Schemas.Resource(gvk); namespace == nil && ok && r.Namespaced {
		b.problems.Hintf(at, "add namespace: NAME", "the %s is named without its namespace", gvk.Kind)
	}
}

// childPlace returns where an object is that the policy makes.
func childPlace(t *cel.Template) analyze.Scope {
	part := func(name string) analyze.ParamValue { return knownText(t.Field("metadata").Field(name)) }
	return analyze.Scope{Namespace: part("namespace"), Name: part("name")}
}

// metadata records what writing fields of metadata needs or leaves behind:
// finalizers, and owners whose deletion is blocked.
func (b *builder) metadata(node *analyze.Node, t *target, n *document.Node, fields *cel.Template) {
	b.holds(t, n.Get("metadata").Get("finalizers"), fields.Field("metadata").Field("finalizers"))
	owners := n.Get("metadata").Get("ownerReferences")
	if owners == nil {
		return
	}
	if owners.Kind != document.List {
		b.unknownOwner(owners)
		return
	}
	for _, owner := range owners.Values {
		b.owner(node, t, owner, owner.Get("blockOwnerDeletion"))
	}
}

// owner records the permission to block an owner's deletion, which clusters
// with the admission plugin OwnerReferencesPermissionEnforcement ask for.
func (b *builder) owner(node *analyze.Node, t *target, owner, block *document.Node) {
	gvk := schema.GVK{APIVersion: literal(owner, "apiVersion"), Kind: literal(owner, "kind")}
	switch {
	case owner.Kind == document.Map && (block == nil || block.Text == "false"):
	case gvk.APIVersion == "" || gvk.Kind == "":
		b.unknownOwner(owner)
	default:
		for _, root := range t.roots {
			at := b.place(t, root)
			writes(node, analyze.Write{GVK: gvk, Subresource: "finalizers", Verb: analyze.WriteUpdate, Scope: analyze.Scope{Namespace: at.Namespace, Input: at.Input}})
		}
	}
}

// ownerEntry is owner for a list entry, which is written in two parts.
func (b *builder) ownerEntry(node *analyze.Node, t *target, a *v1alpha1.PatchAction) {
	if a.Entry.Node.Kind != document.Map {
		b.unknownOwner(a.Entry.Node)
		return
	}
	whole := mapping(a.By, a.Pos)
	whole.Keys = append(whole.Keys, a.Entry.Node.Keys...)
	whole.Values = append(whole.Values, a.Entry.Node.Values...)
	b.owner(node, t, whole, whole.Get("blockOwnerDeletion"))
}

func (b *builder) unknownOwner(n *document.Node) {
	b.problems.Warnf(n.Pos, "the owner is computed; if its deletion is to be blocked, the permission for that (update on its finalizers) has to be granted by hand")
}

// holds records finalizers of a list that is written.
func (b *builder) holds(t *target, n *document.Node, list *cel.Template) {
	switch {
	case n == nil:
	case n.Kind == document.List:
		for i, item := range n.Values {
			b.hold(t, item.Pos, knownText(list.Item(i)))
		}
	case n.Kind != document.Null:
		b.hold(t, n.Pos, analyze.ParamValue{})
	}
}

func (b *builder) hold(t *target, at document.Position, name analyze.ParamValue) {
	for i, root := range t.roots {
		b.plan.FinalizerUses = append(b.plan.FinalizerUses, plan.FinalizerUse{Pos: at, GVK: t.kinds[i], Scope: b.place(t, root), Finalizer: name})
	}
}

// writes records what a part of the policy writes.
func writes(n *analyze.Node, w analyze.Write) {
	if !slices.Contains(n.Writes, w) {
		n.Writes = append(n.Writes, w)
	}
}
