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

// targets finds out what the objects of actions are.
type targets struct {
	objects *objects
	kinds   *kinds
	// held is the name of the finalizer of the policy; "" when it has none.
	held string
}

// hold notes the finalizer of the policy.
func (ts *targets) hold(name string) { ts.held = name }

// holds reports whether a name is that of the finalizer that the policy has for a target.
func (ts *targets) holds(t *target, name string) bool { return name == ts.held && t.primary() }

// of resolves the object of an action; nil when it cannot be told.
func (ts *targets) of(s *scope, of *v1alpha1.Target, at document.Position) *target {
	switch {
	case of == nil:
		t := &target{ref: plan.ObjectRef{Pos: at}, candidates: ts.locate(analyze.Scope{}, analyze.Object)}
		t.of = ts.kinds.typeOf(t.candidates[0].gvk)
		return t
	case of.Object.Set():
		return ts.expression(s, of)
	default:
		return ts.named(s, of)
	}
}

// scale returns the field that the subresource scale of a kind sets.
func (ts *targets) scale(gvk schema.GVK) (path string, known bool) { return ts.kinds.scale(gvk) }

// writesStatus rejects a write of the status of a kind without that subresource.
func (ts *targets) writesStatus(t *target, at document.Position) { ts.kinds.writesStatus(t, at) }

func (ts *targets) locate(named analyze.Scope, roots ...analyze.Root) (out []located) {
	for _, root := range roots {
		out = append(out, located{root: root, gvk: ts.objects.kind(root), at: ts.objects.place(root, named)})
	}
	return out
}

// expression is an expression that gives an object. It must be a whole object
// that the policy reads, so that its kind is known.
func (ts *targets) expression(s *scope, of *v1alpha1.Target) *target {
	p, flow := s.alias(of.Object)
	if p == nil {
		return nil
	}
	roots, ok := flow.Roots()
	if !ok {
		s.problems.Hintf(of.Object.Pos(), "object, an input with get, or an item of an input, also of one that is filtered, sorted or sliced; a mapping that a template builds has none", "this is not an object of a known kind")
		return nil
	}
	t := &target{ref: plan.ObjectRef{Pos: of.Pos, Expression: p}, candidates: ts.locate(analyze.Scope{}, roots...)}
	var all []schema.GVK
	for _, c := range t.candidates {
		all = append(all, c.gvk)
		if !ts.objects.off(c.root) {
			t.ref.Kinds = append(t.ref.Kinds, c.gvk)
		}
	}
	t.of = ts.kinds.shared(all...)
	t.read(s.node, nameMask)
	return t
}

// nameMask selects the fields that name an object.
var nameMask = &value.Mask{Fields: map[string]*value.Mask{"apiVersion": {}, "kind": {}, "metadata": {Fields: map[string]*value.Mask{"name": {}, "namespace": {}}}}}

// named is {apiVersion, kind, namespace, name}.
func (ts *targets) named(s *scope, of *v1alpha1.Target) *target {
	if !of.APIVersion.Set() || !of.Kind.Set() || !of.Name.Set() {
		s.problems.Hintf(of.Pos, "of: {apiVersion, kind, namespace, name}, or an expression that gives an object", "the object is not named in full")
		return nil
	}
	if !ts.kinds.writtenOut(of.APIVersion, of.Kind) {
		return nil
	}
	gvk := schema.GVK{APIVersion: of.APIVersion.Value, Kind: of.Kind.Value}
	ts.kinds.outright(gvk, of.Pos, of.Namespace.Node)
	ref := plan.ObjectRef{Pos: of.Pos, GVK: gvk, Namespace: s.template(of.Namespace), Name: s.template(of.Name)}
	t := ts.at(gvk, analyze.Scope{Namespace: knownText(ref.Namespace), Name: knownText(ref.Name)})
	ref.Target = t.ref.Target
	t.ref, t.of = ref, ts.kinds.typeOf(gvk)
	return t
}

// at returns the object of a kind at a place.
func (ts *targets) at(gvk schema.GVK, at analyze.Scope) *target {
	root := ts.objects.target(gvk, at)
	return &target{ref: plan.ObjectRef{Target: root.Index}, candidates: ts.locate(at, root)}
}

// others returns the index of the primary objects as objects of actions, and records that
// an action looks one up.
func (ts *targets) others(n *analyze.Node) int {
	root, mask := ts.objects.others()
	n.Compares.Add(root, mask)
	return root.Index
}

// identityFields can never be written, beside those that the API server sets.
var identityFields = []string{"apiVersion", "kind", "metadata.name", "metadata.namespace"}

// writable rejects writes to what makes an object the object that it is.
func writable(path []string, at document.Position, problems *findings) {
	server := len(path) == 2 && path[0] == "metadata" && slices.Contains(plan.ServerMetadata, path[1])
	if server || slices.Contains(identityFields, strings.Join(path, ".")) {
		problems.Errorf(at, "%s cannot be written", strings.Join(path, "."))
	}
}

// inSubresource rejects a write of status without its subresource, and of
// anything else with it. field is what the message names.
func inSubresource(subresource, first, field string, at document.Position, problems *findings) {
	if (subresource == "status") == (first == "status") {
		return
	}
	what := "the patch writes %s without its subresource"
	if subresource == "status" {
		what = "the patch of the status writes %s"
	}
	problems.Hintf(at, "the value begins at the root of the object: {status: {...}} with subresource: status, everything else without", what, field)
}
