package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// metadataMap compiles labels or annotations.
func metadataMap(s *scope, a *v1alpha1.MapAction, field string, ts *targets) plan.Action {
	t := ts.of(s, a.Of, a.Pos)
	if t == nil {
		return nil
	}
	if len(a.Set) == 0 {
		s.problems.Hintf(a.Pos, "set: {key: value}, null removes", "%s sets nothing", field)
		return nil
	}
	fields := s.templateNode(mapping(a.Set, a.Pos))
	fields.Fit(&schema.Type{Kind: schema.Map, Elem: textType}, field, &s.problems.Problems)
	writable([]string{"metadata", field}, a.Pos, s.problems)
	metadataNames(a.Set, fields, field, s.problems)
	return merge(s.node, t, &plan.Merge{Pos: a.Pos, Under: []string{"metadata", field}, Fields: fields})
}

// status compiles fields of the primary object's status.
func status(s *scope, a *v1alpha1.Action, ts *targets) plan.Action {
	t := ts.of(s, nil, a.Pos)
	ts.writesStatus(t, a.Pos)
	if t.of.Field("status") == nil {
		s.problems.Hintf(a.Pos, "annotations: {set: {KEY: VALUE}} can say the same", "a %s has no status", t.candidates[0].gvk.Kind)
	}
	fields := s.templateNode(mapping(a.Status, a.Pos))
	fields.Fit(t.of.Field("status"), "status", &s.problems.Problems)
	return merge(s.node, t, &plan.Merge{Pos: a.Pos, Subresource: "status", Under: []string{"status"}, Fields: fields})
}

// merge completes an action that merges fields, recording what it reads (a
// write is a diff against what is there) and what it writes.
func merge(n *analyze.Node, t *target, m *plan.Merge) plan.Action {
	m.Of = t.ref
	t.read(n, under(m.Under, m.Fields.Mask()))
	t.write(n, m.Subresource, analyze.WritePatch)
	return m
}

// patch compiles a patch of fields, or of one entry of a list.
func patch(s *scope, a *v1alpha1.PatchAction, ts *targets) plan.Action {
	t := ts.of(s, a.Of, a.Pos)
	if t == nil || !rightPatch(a, t, s.problems) {
		return nil
	}
	if a.Subresource.Value == "status" {
		ts.writesStatus(t, a.Pos)
	}
	if a.List.Set() {
		return ts.listEntry(s, a, t)
	}
	if !a.Value.Set() || a.Value.Node.Kind != document.Map {
		s.problems.Hintf(a.Pos, "patch: {of: ..., value: {spec: {field: value}}}", "a patch needs a value that is a mapping")
		return nil
	}
	fields := s.template(a.Value)
	fields.Fit(t.of, "value", &s.problems.Problems)
	if a.Subresource.Value == "" {
		encoded(t.ref.GVK, a.Value.Node, s.problems)
	}
	writablePaths(fields, a, s.problems)
	t.create(s.node, a.Create)
	ts.ownedMetadata(s, t, a.Value.Node, fields)
	grants(s.node, t, a.Value.Node, fields, false)
	return merge(s.node, t, &plan.Merge{Pos: a.Pos, Subresource: a.Subresource.Value, Fields: fields, Create: a.Create, Unlocked: a.Lock.Set()})
}

func writablePaths(fields *cel.Template, a *v1alpha1.PatchAction, problems *findings) {
	for _, path := range fields.Paths() {
		writable(path, a.Pos, problems)
		if len(path) > 0 {
			inSubresource(a.Subresource.Value, path[0], strings.Join(path, "."), a.Pos, problems)
		}
	}
}

// rightPatch rejects fields of a patch that do not go together.
func rightPatch(a *v1alpha1.PatchAction, t *target, problems *findings) bool {
	if a.Create && t.ref.Kind == "" {
		problems.Hintf(a.Pos, "of: {apiVersion, kind, namespace, name}", "create needs an object that is named")
	}
	if sub := a.Subresource.Value; sub != "" && sub != "status" {
		problems.Hintf(a.Subresource.Pos(), "subresource: status, or none", "the subresource %q cannot be written", sub)
		return false
	}
	if a.Lock.Set() && (a.Lock.Value != "none" || a.List.Set()) {
		problems.Hintf(a.Lock.Pos(), "lock: none with value, or no lock", "lock cannot be %q here", a.Lock.Value)
		return false
	}
	return true
}
