package compile

import (
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// event compiles a Kubernetes Event.
func event(s *scope, a *v1alpha1.EventAction, ts *targets) plan.Action {
	t := ts.of(s, a.Of, a.Pos)
	if t == nil {
		return nil
	}
	if a.Type.Set() && a.Type.Value != "Normal" && a.Type.Value != "Warning" {
		s.problems.Hintf(a.Type.Pos(), "Normal or Warning", "unknown event type %q", a.Type.Value)
	}
	if !a.Reason.Set() || !a.Message.Set() {
		s.problems.Errorf(a.Pos, "an event needs reason and message")
		return nil
	}
	t.read(s.node, &value.Mask{})
	t.event(s.node)
	return &plan.Event{
		Pos: a.Pos, Of: t.ref, Warning: a.Type.Value == "Warning",
		Reason: s.template(a.Reason), Message: s.template(a.Message),
	}
}

// remember compiles a value that is kept for later evaluations.
func remember(s *scope, a *v1alpha1.RememberAction) plan.Action {
	if !a.Name.Set() || !a.Value.Set() {
		s.problems.Hintf(a.Pos, "remember: {name: hash, value: ${variables.hash}}", "remember needs name and value")
		return nil
	}
	s.node.Keeps = true
	out := &plan.Remember{Pos: a.Pos, Name: s.template(a.Name), Value: s.template(a.Value)}
	out.Name.Fit(textType, "name", &s.problems.Problems)
	return out
}
