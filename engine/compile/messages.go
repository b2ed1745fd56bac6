package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/expr/cel"
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
		Reason: s.worded(a.Reason, "event.reason"), Message: s.worded(a.Message, "event.message"),
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

// worded compiles a template whose result is written as a text.
func (s *scope) worded(t v1alpha1.Template, what string) *cel.Template {
	out := s.template(t)
	if out == nil {
		return nil
	}
	if t.Node.Kind == document.Map || t.Node.Kind == document.List {
		s.problems.Hintf(t.Pos(), "write the text itself, as in "+what[strings.LastIndex(what, ".")+1:]+": it is full", "%s must be a text, not %s", what, t.Node.Kind)
	} else if p := out.Program(); p != nil && (cel.IsMap(p.Type()) || cel.IsList(p.Type()) || cel.IsObject(p.Type())) {
		s.problems.Hintf(t.Pos(), "json.encode(x) makes a text of it", "%s must be a text, not %s", what, cel.TypeName(p.Type()))
	}
	return out
}
