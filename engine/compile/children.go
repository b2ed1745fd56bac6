package compile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// creates records that a patch may make its object.
func (b *builder) creates(n *analyze.Node, t *target, create bool) {
	if create {
		t.write(b, n, "", analyze.WriteCreate)
	}
}

// listEntry compiles a patch of one entry of a list.
func (b *builder) listEntry(s *scope, a *v1alpha1.PatchAction, target *target) plan.Action {
	path := strings.Split(a.List.Value, ".")
	t := fieldAt(target.kind, path)
	switch {
	case t == nil:
		b.problems.Errorf(a.List.Pos(), "the kind has no field %q", a.List.Value)
		return nil
	case t.Kind != schema.List && t.Kind != schema.Dyn:
		b.problems.Errorf(a.List.Pos(), "%q is not a list", a.List.Value)
		return nil
	case len(a.By) == 0:
		b.problems.Hintf(a.Pos, "by: {name: ...}", "by says which entry of the list is meant")
		return nil
	case a.Remove == a.Entry.Set() || a.Value.Set():
		b.problems.Hintf(a.Pos, "entry: {field: value}, or remove: true", "an entry is either kept or removed")
		return nil
	}
	b.protected(target, path, a.Pos)
	if sub := a.Subresource.Value; (sub == "status") != (path[0] == "status") {
		b.problems.Hintf(a.Pos, "status is written with subresource: status, everything else without", "the patch of %q writes %s", sub, a.List.Value)
	}
	out := &plan.ListEntry{Pos: a.Pos, Of: target.ref, Subresource: a.Subresource.Value, Path: path, Remove: a.Remove, Create: a.Create}
	out.By = b.templateNode(s, mapping(a.By, a.Pos))
	out.By.Fit(t.Item(), "by", b.problems)
	if a.Entry.Set() {
		if out.Entry = b.template(s, a.Entry); out.Entry != nil {
			out.Entry.Fit(t.Item(), "entry", b.problems)
		}
	}
	target.read(s.node, under(path, value.KeepAll))
	target.write(b, s.node, a.Subresource.Value, analyze.WritePatch)
	b.creates(s.node, target, a.Create)
	if a.List.Value == "metadata.ownerReferences" && a.Entry.Set() {
		b.ownerEntry(s.node, target, a)
	}
	return out
}

func fieldAt(t *schema.Type, path []string) *schema.Type {
	for _, name := range path {
		if t = t.Field(name); t == nil {
			return nil
		}
	}
	return t
}

// under is a mask below a path of fields.
func under(path []string, mask *value.Mask) *value.Mask {
	for i := range path {
		mask = &value.Mask{Fields: map[string]*value.Mask{path[len(path)-1-i]: mask}}
	}
	return mask
}

// applied compiles an object that the policy keeps as written.
func (b *builder) applied(s *scope, a *v1alpha1.Action) plan.Action {
	out := b.child(s, *a.Apply, true, a.Pos)
	if out == nil {
		return nil
	}
	for _, at := range a.Once {
		path := strings.Split(at.Value, ".")
		switch t := fieldAt(out.Type, path); {
		case t == nil:
			b.problems.Errorf(at.Pos(), "%s has no field %q", out.Kind, at.Value)
		case path[0] == "metadata" && len(path) < 3 || path[0] == "apiVersion" || path[0] == "kind":
			b.problems.Hintf(at.Pos(), "a field below spec, or one label or annotation", "%q names the object", at.Value)
		default:
			out.Once = append(out.Once, path)
		}
	}
	switch a.IfExists.Value {
	case "", "refuse":
	case "take":
		out.Take = true
	default:
		b.problems.Hintf(a.IfExists.Pos(), "refuse, which is the default, or take", "ifExists cannot be %q", a.IfExists.Value)
	}
	return out
}

// made compiles an object that the policy makes.
func (b *builder) made(s *scope, t v1alpha1.Template, at document.Position) plan.Action {
	if out := b.child(s, t, false, at); out != nil {
		return out
	}
	return nil
}

func (b *builder) child(s *scope, t v1alpha1.Template, apply bool, at document.Position) *plan.Child {
	version, kind := literal(t.Node, "apiVersion"), literal(t.Node, "kind")
	if version == "" || kind == "" {
		b.problems.Hintf(at, "written out, so that the needed permissions are known", "the object needs apiVersion and kind")
		return nil
	}
	gvk := schema.GVK{APIVersion: version, Kind: kind}
	out := &plan.Child{Pos: at, GVK: gvk, Apply: apply, Type: b.options.Schemas.Of(gvk)}
	if out.Manifest = b.template(s, t); out.Manifest == nil {
		return nil
	}
	out.Manifest.Fit(out.Type, kind, b.problems)
	if metadata := t.Node.Get("metadata"); metadata != nil && metadata.Kind == document.Map {
		b.outright(gvk, metadata.Pos, metadata.Get("namespace"))
	}
	named := childPlace(out.Manifest)
	out.Target = b.targetIndex(gvk, named)
	if metadata := t.Node.Get("metadata"); metadata.Get("name") == nil && (metadata == nil || metadata.Kind == document.Map) {
		b.problems.Hintf(t.Node.Pos, "metadata: {name: ...}", "the %s has no metadata.name", kind)
	}
	of := &target{roots: []analyze.Root{targetRoot(out.Target)}, kinds: []schema.GVK{gvk}, named: named}
	b.kinds[of.roots[0]] = gvk
	mask, verb := &value.Mask{}, analyze.WriteCreate
	if apply {
		mask = b.appliedMask(out)
		verb = analyze.WriteApply
	}
	of.read(s.node, mask)
	of.write(b, s.node, "", verb)
	b.metadata(s.node, of, t.Node, out.Manifest)
	b.grants(s.node, of, t.Node, out.Manifest, !apply)
	return out
}

// appliedMask is what tells whether an object is applied already, and whose it
// is.
func (b *builder) appliedMask(c *plan.Child) *value.Mask {
	mask := value.Merge(c.Manifest.Mask(), under([]string{"metadata", "annotations", plan.AppliedPrefix + b.plan.Name}, &value.Mask{}))
	mask = value.Merge(mask, under([]string{"metadata", "ownerReferences"}, value.KeepAll))
	return value.Merge(mask, world.WithManagers)
}

// literal returns a field of a mapping that is written out.
func literal(n *document.Node, field string) string {
	if n == nil || n.Get(field) == nil || strings.Contains(n.Get(field).Text, "${") {
		return ""
	}
	return n.Get(field).Text
}

func (b *builder) deletion(s *scope, a *v1alpha1.DeleteAction) plan.Action {
	target := b.target(s, a.Of, a.Pos)
	if target == nil {
		return nil
	}
	target.read(s.node, under([]string{"metadata", "deletionTimestamp"}, &value.Mask{}))
	target.write(b, s.node, "", analyze.WriteDelete)
	out := &plan.Delete{Pos: a.Pos, Of: target.ref, Propagation: plan.Background}
	if a.Propagation.Set() {
		out.Propagation = a.Propagation.Value
		if !slices.Contains([]string{plan.Background, "Foreground", "Orphan"}, out.Propagation) {
			b.problems.Hintf(a.Propagation.Pos(), "Background, which is the default, Foreground or Orphan", "propagation cannot be %q", out.Propagation)
		}
	}
	if a.GracePeriod.Set() {
		out.GracePeriod = b.template(s, a.GracePeriod)
	}
	out.Changed = !b.flag(a.IfUnchanged, true, "ifUnchanged")
	return out
}

// flag reads a field that is true or false; absent is otherwise.
func (b *builder) flag(n *document.Node, otherwise bool, field string) bool {
	if n == nil {
		return otherwise
	}
	on, err := strconv.ParseBool(n.Text)
	if n.Kind != document.Bool || err != nil {
		b.problems.Errorf(n.Pos, "%s must be true or false, not %s", field, n.Kind)
	}
	return on
}

func (b *builder) finalizer(s *scope, a *v1alpha1.FinalizerAction) plan.Action {
	target := b.target(s, a.Of, a.Pos)
	if target == nil {
		return nil
	}
	if !a.Name.Set() {
		b.problems.Hintf(a.Pos, "finalizer: {name: example.com/finalizer}", "the finalizer has no name")
		return nil
	}
	out := &plan.Finalizer{Pos: a.Pos, Of: target.ref, Name: b.template(s, a.Name), Absent: a.Absent}
	out.Name.Fit(&schema.Type{Kind: schema.String}, "name", b.problems)
	target.read(s.node, under([]string{"metadata", "finalizers"}, value.KeepAll))
	target.write(b, s.node, "", analyze.WritePatch)
	if !a.Absent {
		b.hold(target, a.Pos, knownText(out.Name))
	}
	return out
}
