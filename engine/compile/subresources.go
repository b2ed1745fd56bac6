package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// replicasField is the field of most kinds that have the subresource scale.
const replicasField = "spec.replicas"

// scale compiles a number of replicas.
func scale(s *scope, a *v1alpha1.ScaleAction, ts *targets) plan.Action {
	t := ts.of(s, a.Of, a.Pos)
	if t == nil {
		return nil
	}
	if !a.Replicas.Set() {
		s.problems.Hintf(a.Pos, "scale: {of: inputs.app, replicas: variables.wanted}", "scale needs replicas")
		return nil
	}
	field := replicasField
	if a.Field.Set() {
		field = a.Field.Value
	}
	for _, c := range t.candidates {
		scalable(s, a, c.gvk, field, ts)
	}
	out := &plan.Scale{Pos: a.Pos, Of: t.ref, Replicas: s.typed(a.Replicas, cel.IntType), Field: strings.Split(field, ".")}
	t.read(s.node, under(out.Field, value.KeepAll))
	t.write(s.node, "scale", analyze.WriteScale)
	return out
}

// scalable rejects a kind without the subresource scale, and a field that it does
// not set.
func scalable(s *scope, a *v1alpha1.ScaleAction, gvk schema.GVK, field string, ts *targets) {
	switch path, known := ts.scale(gvk); {
	case !known || path == field:
	case path == "":
		s.problems.Hintf(a.Pos, "patch: {of: ..., value: ...} writes any field", "%s has no subresource scale", gvk.Kind)
	default:
		s.problems.Hintf(a.Pos, "field: "+path, "the subresource scale of %s sets %s, not %s", gvk.Kind, path, field)
	}
}

// pod is the kind that can be evicted.
var pod = schema.GVK{APIVersion: "v1", Kind: "Pod"}

// eviction compiles the eviction of a Pod.
func eviction(s *scope, a *v1alpha1.EvictAction, ts *targets) plan.Action {
	t := ts.of(s, a.Of, a.Pos)
	if t == nil {
		return nil
	}
	for _, c := range t.candidates {
		if c.gvk != pod {
			s.problems.Hintf(a.Pos, "delete: {of: ...} deletes any object", "a %s cannot be evicted, only a Pod can", c.gvk.Kind)
			return nil
		}
	}
	t.read(s.node, baseMask)
	t.write(s.node, "eviction", analyze.WriteEvict)
	t.event(s.node) // says what refuses it
	return &plan.Evict{Pos: a.Pos, Of: t.ref, GracePeriod: gracePeriod(s, a.GracePeriod)}
}
