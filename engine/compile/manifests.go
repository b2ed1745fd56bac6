package compile

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// manifests compiles the objects that the policy makes or applies.
type manifests struct {
	policy  string
	targets *targets
	kinds   *kinds
}

// applied compiles an object that the policy keeps as written.
func (cs *manifests) applied(s *scope, a *v1alpha1.Action) plan.Action {
	out := cs.child(s, *a.Apply, true, a.Pos)
	if out == nil {
		return nil
	}
	out.Once = once(a.Once, out, s.problems)
	switch a.IfExists.Value {
	case "", "refuse":
	case "take":
		out.Take = true
	default:
		s.problems.Hintf(a.IfExists.Pos(), "refuse, which is the default, or take", "ifExists cannot be %q", a.IfExists.Value)
	}
	return out
}

// once returns the paths of fields that are set when the object is made.
func once(fields []v1alpha1.Text, c *plan.Child, problems *findings) (out [][]string) {
	for _, at := range fields {
		path := strings.Split(at.Value, ".")
		switch t := fieldAt(c.Type, path); {
		case t == nil:
			problems.Hintf(at.Pos(), "the path of a field, as in spec.replicas; a list is kept as a whole, by its own path", "%s has no field %q", c.Kind, at.Value)
		case path[0] == "metadata" && len(path) < 3 || path[0] == "apiVersion" || path[0] == "kind":
			problems.Hintf(at.Pos(), "a field below spec, or one label or annotation", "%q names the object", at.Value)
		default:
			out = append(out, path)
		}
	}
	return out
}

// made compiles an object that the policy makes.
func (cs *manifests) made(s *scope, t v1alpha1.Template, at document.Position) plan.Action {
	if out := cs.child(s, t, false, at); out != nil {
		return out
	}
	return nil
}

func (cs *manifests) child(s *scope, manifest v1alpha1.Template, apply bool, at document.Position) *plan.Child {
	if !children.KindWritten(manifest.Node, s.problems) {
		return nil
	}
	gvk := schema.GVK{APIVersion: literal(manifest.Node, "apiVersion"), Kind: literal(manifest.Node, "kind")}
	out := &plan.Child{Pos: at, GVK: gvk, Apply: apply, Type: cs.kinds.typeOf(gvk)}
	if out.Manifest = s.template(manifest); out.Manifest == nil {
		return nil
	}
	out.Manifest.Fit(out.Type, gvk.Kind, &s.problems.Problems)
	cs.identified(gvk, manifest.Node, s.problems)
	cs.kinds.notKept(gvk, manifest.Node, s.problems)
	of := cs.targets.at(gvk, childPlace(out.Manifest))
	out.Target = of.ref.Target
	mask, verb := under([]string{"metadata", "ownerReferences"}, value.KeepAll), analyze.WriteCreate
	if apply || manifest.Node.Get("metadata").Get("ownerReferences") == nil { // only its managers tell whose it is
		mask = value.Merge(mask, world.WithManagers)
	}
	if apply {
		mask, verb = value.Merge(mask, cs.appliedMask(out)), analyze.WriteApply
	}
	of.read(s.node, mask)
	of.write(s.node, "", verb)
	forOne(s, cs.targets, out, manifest.Node.Get("metadata"))
	cs.targets.ownedMetadata(s, of, manifest.Node, out.Manifest)
	grants(s.node, of, manifest.Node, out.Manifest, !apply)
	return out
}

// identified rejects a manifest without name, with a namespace that is wrong for its kind, or
// with metadata that the API server sets, as far as that is written out.
func (cs *manifests) identified(gvk schema.GVK, manifest *document.Node, problems *findings) {
	metadata := manifest.Get("metadata")
	if metadata != nil && metadata.Kind != document.Map {
		return
	}
	if metadata != nil {
		cs.kinds.outright(gvk, metadata.Pos, metadata.Get("namespace"))
		for i, key := range metadata.Keys {
			if metadata.Values[i].Kind != document.Null && slices.Contains(plan.ServerMetadata, key.Text) {
				problems.Hintf(key.Pos, "leave it out", "metadata.%s cannot be written: the API server sets it", key.Text)
			}
		}
	}
	if metadata.Get("name") == nil {
		problems.Reportf(document.MissingName, manifest.Pos, children.NameHint(manifest), "the %s has no metadata.name", gvk.Kind)
	}
}

// childPlace returns where an object is that the policy makes.
func childPlace(t *cel.Template) analyze.Scope {
	part := func(name string) analyze.ParamValue { return knownText(t.Field("metadata").Field(name)) }
	return analyze.Scope{Namespace: part("namespace"), Name: part("name")}
}

// appliedMask is what tells whether an object is applied already.
func (cs *manifests) appliedMask(c *plan.Child) *value.Mask {
	return value.Merge(c.Manifest.Mask(), under([]string{"metadata", "annotations", plan.AppliedKey(cs.policy)}, &value.Mask{}))
}

// forOne notes whether an object that is applied says which primary object it is for: it
// is a child, or has owners. Whether that primary object exists is read then.
func forOne(s *scope, ts *targets, a *plan.Child, metadata *document.Node) {
	a.Others = -1
	a.Kept = a.Apply && metadata.Get("labels").Get(children.ChildLabel) != nil
	if a.Kept || a.Apply && metadata.Get("ownerReferences") != nil {
		a.Others = ts.others(s.node)
	}
}
