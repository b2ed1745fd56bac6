package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// listEntry compiles a patch of one entry of a list.
func (ts *targets) listEntry(s *scope, a *v1alpha1.PatchAction, t *target) plan.Action {
	path := strings.Split(a.List.Value, ".")
	of := fieldAt(t.of, path)
	if !rightEntry(a, of, s.problems) {
		return nil
	}
	writable(path, a.Pos, s.problems)
	inSubresource(a.Subresource.Value, path[0], a.List.Value, a.Pos, s.problems)
	out := &plan.ListEntry{Pos: a.Pos, Of: t.ref, Subresource: a.Subresource.Value, Path: path, Remove: a.Remove, Create: a.Create}
	out.By = s.templateNode(mapping(a.By, a.Pos))
	out.By.Fit(of.Item(), "by", &s.problems.Problems)
	if out.Entry = s.template(a.Entry); out.Entry != nil {
		out.Entry.Fit(of.Item(), "entry", &s.problems.Problems)
	}
	t.read(s.node, under(path, value.KeepAll))
	t.write(s.node, a.Subresource.Value, analyze.WritePatch)
	t.create(s.node, a.Create)
	if a.List.Value == "metadata.ownerReferences" && a.Entry.Set() {
		ts.ownerEntry(s, t, a)
	}
	return out
}

// rightEntry rejects what is no list of the kind, and fields that do not go
// together.
func rightEntry(a *v1alpha1.PatchAction, of *schema.Type, problems *findings) bool {
	switch {
	case of == nil:
		problems.Errorf(a.List.Pos(), "the kind has no field %q", a.List.Value)
	case of.Kind != schema.List && of.Kind != schema.Dyn:
		problems.Errorf(a.List.Pos(), "%q is not a list", a.List.Value)
	case len(a.By) == 0:
		problems.Hintf(a.Pos, "by: {name: ...}", "by says which entry of the list is meant")
	case a.Remove == a.Entry.Set() || a.Value.Set():
		problems.Hintf(a.Pos, "entry: {field: value}, or remove: true", "an entry is either kept or removed")
	default:
		return true
	}
	return false
}
