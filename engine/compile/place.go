package compile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

var (
	paramTemplate   = regexp.MustCompile(`^\$\{\s*params\.([A-Za-z_][A-Za-z0-9_]*)\s*\}$`)
	paramExpression = regexp.MustCompile(`^\s*params\.([A-Za-z_][A-Za-z0-9_]*)\s*$`)
)

// known says what is known of a text before any evaluation.
func known(n *document.Node, t *cel.Template) plan.Known {
	if n == nil || t == nil {
		return plan.Known{}
	}
	text, ok := value.Str(t.Constant())
	if !ok {
		return plan.Known{}
	}
	return origin(n.Text, text, paramTemplate, "${")
}

// origin says how a text follows from params: one of them, or computed.
func origin(written, text string, param *regexp.Regexp, code string) plan.Known {
	if m := param.FindStringSubmatch(written); m != nil {
		return plan.Known{Value: text, Param: m[1]}
	}
	return plan.Known{Value: text, Computed: strings.Contains(written, code)}
}

// within is the one namespace of a primary. That one is left of a list which
// is computed says nothing about other settings.
func within(t v1alpha1.Template, namespaces []string) plan.Known {
	switch {
	case len(namespaces) != 1:
		return plan.Known{}
	case len(t.Node.Values) == 1:
		return origin(t.Node.Values[0].Text, namespaces[0], paramTemplate, "${")
	default:
		return plan.Known{Value: namespaces[0], Computed: true}
	}
}

// place says where the objects behind a root are.
func (b *builder) place(t *target, root string) plan.Place {
	if root == objectRoot {
		return plan.Place{Namespace: b.plan.Primary.Within}
	}
	name, _ := strings.CutPrefix(root, "inputs.")
	if i := slices.IndexFunc(b.plan.Inputs, func(in *plan.Input) bool { return in.Name == name }); i >= 0 {
		return b.plan.Inputs[i].Place()
	}
	return t.named
}

// named says which object an input gets, as far as params alone tell. A name
// alone means the primary's own namespace.
func (b *builder) named(get *cel.Program, text v1alpha1.Text, deps plan.Deps) plan.Place {
	switch {
	case get == nil:
		return plan.Place{}
	case onlyParams(deps):
		return b.constantName(text)
	case get.Type().IsExactType(cel.StringType):
		return plan.Place{Namespace: b.plan.Primary.Within}
	default:
		return plan.Place{}
	}
}

func (b *builder) constantName(text v1alpha1.Text) plan.Place {
	part := func(v value.Value) plan.Known {
		s, _ := value.Str(v)
		return origin(text.Value, s, paramExpression, "params")
	}
	v := b.paramValue(&scope{env: b.paramEnv()}, text)
	if m, ok := v.(*value.Map); ok {
		return plan.Place{Namespace: part(value.Path(m, "namespace")), Name: part(value.Path(m, "name"))}
	}
	return plan.Place{Namespace: b.plan.Primary.Within, Name: part(v)}
}

func onlyParams(deps plan.Deps) bool {
	for name := range deps.Uses {
		if !strings.HasPrefix(name, "params.") {
			return false
		}
	}
	return true
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

// childPlace says where an object is that the policy makes.
func childPlace(n *document.Node, t *cel.Template) plan.Place {
	part := func(name string) plan.Known {
		return known(n.Get("metadata").Get(name), t.Field("metadata").Field(name))
	}
	return plan.Place{Namespace: part("namespace"), Name: part("name")}
}

// metadata records what writing fields of metadata needs or leaves behind:
// finalizers, and owners whose deletion is blocked.
func (b *builder) metadata(t *target, n *document.Node, fields *cel.Template) {
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
		b.owner(t, owner, owner.Get("blockOwnerDeletion"))
	}
}

// owner records the permission to block an owner's deletion, which clusters
// with the admission plugin OwnerReferencesPermissionEnforcement ask for.
func (b *builder) owner(t *target, owner, block *document.Node) {
	gvk := schema.GVK{APIVersion: literal(owner, "apiVersion"), Kind: literal(owner, "kind")}
	switch {
	case owner.Kind == document.Map && (block == nil || block.Text == "false"):
	case gvk.APIVersion == "" || gvk.Kind == "":
		b.unknownOwner(owner)
	default:
		for _, root := range t.roots {
			at := b.place(t, root)
			b.writes(plan.Write{GVK: gvk, Subresource: "finalizers", Verb: plan.WriteUpdate, Place: plan.Place{Namespace: at.Namespace, Input: at.Input}})
		}
	}
}

// ownerEntry is owner for a list entry, which is written in two parts.
func (b *builder) ownerEntry(t *target, a *v1alpha1.PatchAction) {
	if a.Entry.Node.Kind != document.Map {
		b.unknownOwner(a.Entry.Node)
		return
	}
	whole := mapping(a.By, a.Pos)
	whole.Keys = append(whole.Keys, a.Entry.Node.Keys...)
	whole.Values = append(whole.Values, a.Entry.Node.Values...)
	b.owner(t, whole, whole.Get("blockOwnerDeletion"))
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
			b.hold(t, item.Pos, known(item, list.Item(i)))
		}
	case n.Kind != document.Null:
		b.hold(t, n.Pos, plan.Known{})
	}
}

func (b *builder) hold(t *target, at document.Position, name plan.Known) {
	for i, root := range t.roots {
		b.plan.Holds = append(b.plan.Holds, plan.Hold{Pos: at, GVK: t.kinds[i], Place: b.place(t, root), Finalizer: name})
	}
}

func (b *builder) writes(w plan.Write) {
	if !slices.Contains(b.plan.Writes, w) {
		b.plan.Writes = append(b.plan.Writes, w)
	}
}
