package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// condition compiles a condition of an object.
func condition(s *scope, a *v1alpha1.ConditionAction, ts *targets) plan.Action {
	t := ts.of(s, a.Of, a.Pos)
	if t == nil {
		return nil
	}
	ts.writesStatus(t, a.Pos)
	if !a.Type.Set() || !a.Absent && !a.Status.Set() {
		s.problems.Hintf(a.Pos, "condition: {type, status, reason, message} or {type, absent: true}", "a condition needs type and status")
		return nil
	}
	c := &plan.Condition{
		Pos: a.Pos, Of: t.ref, Absent: a.Absent, Track: a.ObservedGeneration.Value != "keep",
		Type: s.template(a.Type), Status: s.template(a.Status),
		Reason: s.template(a.Reason), Message: s.template(a.Message),
	}
	switch a.ObservedGeneration.Value {
	case "", "track", "keep":
	default:
		s.problems.Hintf(a.ObservedGeneration.Pos(), "track or keep", "unknown observedGeneration %q", a.ObservedGeneration.Value)
	}
	fitCondition(c, s.problems)
	conditionNames(a, c.Type, c.Reason, s.problems)
	if conditionFields(t, a, s.problems) && lacks(t, "observedGeneration") {
		c.Track, c.NoGeneration = false, true
	}
	t.read(s.node, conditionMask(c))
	t.write(s.node, "status", analyze.WritePatch)
	return c
}

// conditionFields rejects a condition that the kind cannot have: it has none, lacks a field
// of it, so that the field would be written again and again, or needs a reason, without
// which the API server would refuse every write. It reports whether the kind has conditions.
func conditionFields(t *target, a *v1alpha1.ConditionAction, problems *findings) bool {
	status := t.of.Field("status")
	if status == nil || status.Field("conditions") == nil {
		problems.Errorf(a.Pos, "the kind has no status.conditions")
		return false
	}
	tracked := a.ObservedGeneration
	if tracked.Value == "keep" {
		tracked = v1alpha1.Text{}
	}
	for _, f := range []struct {
		name  string
		isSet bool
		at    document.Position
	}{{"reason", a.Reason.Set(), a.Reason.Pos()}, {"message", a.Message.Set(), a.Message.Pos()}, {"observedGeneration", tracked.Set(), tracked.Pos()}} {
		if f.isSet && lacks(t, f.name) {
			problems.Hintf(f.at, "leave it out", "a condition of a %s has no field %q", t.candidates[0].gvk.Kind, f.name)
		}
	}
	if !a.Absent && !a.Reason.Set() && status.Field("conditions").Item().Requires("reason") {
		problems.Reportf(document.InvalidName, a.Pos, "add a reason: one word in CamelCase, such as NodeNotReady", "a condition of a %s needs a reason", t.candidates[0].gvk.Kind)
	}
	return true
}

// lacks reports whether the schema of the kind's conditions says that they do not have a
// field.
func lacks(t *target, field string) bool {
	return t.of.Field("status").Field("conditions").Item().Field(field) == nil
}

// conditionMask is what is compared with the condition.
func conditionMask(c *plan.Condition) *value.Mask {
	mask := under([]string{"status", "conditions"}, value.KeepAll)
	if c.Track && !c.Absent {
		mask = value.Merge(mask, under([]string{"metadata", "generation"}, &value.Mask{}))
	}
	return mask
}

func fitCondition(c *plan.Condition, problems *findings) {
	for name, t := range map[string]*cel.Template{"type": c.Type, "reason": c.Reason, "message": c.Message} {
		if t != nil {
			t.Fit(textType, "condition."+name, &problems.Problems)
		}
	}
	if c.Status != nil {
		c.Status.Fit(&schema.Type{Kind: schema.String, Enum: []string{"True", "False", "Unknown"}}, "condition.status", &problems.Problems)
	}
}
