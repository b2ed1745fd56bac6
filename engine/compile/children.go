package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// creates records that a patch may make its object.
func (b *builder) creates(t *target, create bool) {
	if create {
		t.write(b, "", plan.WriteCreate)
	}
}

// listEntry compiles a patch of one entry of a list.
func (b *builder) listEntry(s *scope, a *v1alpha1.PatchAction, target *target) plan.Action {
	deps := newDeps()
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
	out.By = b.templateNode(s, mapping(a.By, a.Pos), &deps)
	out.By.Fit(t.Item(), "by", b.problems)
	if a.Entry.Set() {
		if out.Entry = b.template(s, a.Entry, &deps); out.Entry != nil {
			out.Entry.Fit(t.Item(), "entry", b.problems)
		}
	}
	target.read(b, under(path, value.KeepAll))
	target.write(b, a.Subresource.Value, plan.WritePatch)
	b.creates(target, a.Create)
	if a.List.Value == "metadata.ownerReferences" && a.Entry.Set() {
		b.ownerEntry(target, a)
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

// child compiles an object that the policy makes.
func (b *builder) child(s *scope, t v1alpha1.Template, apply bool, at document.Position) plan.Action {
	version, kind := literal(t.Node, "apiVersion"), literal(t.Node, "kind")
	if version == "" || kind == "" {
		b.problems.Hintf(at, "written out, so that the needed permissions are known", "the object needs apiVersion and kind")
		return nil
	}
	deps := newDeps()
	gvk := schema.GVK{APIVersion: version, Kind: kind}
	out := &plan.Child{Pos: at, GVK: gvk, Apply: apply}
	if out.Manifest = b.template(s, t, &deps); out.Manifest == nil {
		return nil
	}
	out.Manifest.Fit(b.options.Schemas.Of(gvk), kind, b.problems)
	if metadata := t.Node.Get("metadata"); metadata != nil && metadata.Kind == document.Map {
		b.outright(gvk, metadata.Pos, metadata.Get("namespace"))
	}
	named := childPlace(t.Node, out.Manifest)
	out.Target = b.targetIndex(gvk, named)
	of := &target{roots: []string{targetRoot(out.Target)}, kinds: []schema.GVK{gvk}, named: named}
	b.kinds[of.roots[0]] = gvk
	mask, verb := &value.Mask{}, plan.WriteCreate
	if apply {
		// Whether it is applied already is told by an annotation and the fields.
		mask = value.Merge(out.Manifest.Mask(), under([]string{"metadata", "annotations", plan.AppliedPrefix + b.plan.Name}, &value.Mask{}))
		verb = plan.WriteApply
	}
	of.read(b, mask)
	of.write(b, "", verb)
	b.metadata(of, t.Node, out.Manifest)
	b.grants(of, t.Node, out.Manifest, !apply)
	return out
}

// literal gives a field of a mapping that is written out.
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
	target.read(b, under([]string{"metadata", "deletionTimestamp"}, &value.Mask{}))
	target.write(b, "", plan.WriteDelete)
	return &plan.Delete{Pos: a.Pos, Of: target.ref}
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
	deps := newDeps()
	out := &plan.Finalizer{Pos: a.Pos, Of: target.ref, Name: b.template(s, a.Name, &deps), Absent: a.Absent}
	out.Name.Fit(&schema.Type{Kind: schema.String}, "name", b.problems)
	target.read(b, under([]string{"metadata", "finalizers"}, value.KeepAll))
	target.write(b, "", plan.WritePatch)
	if !a.Absent {
		b.hold(target, a.Pos, known(a.Name.Node, out.Name))
	}
	return out
}
