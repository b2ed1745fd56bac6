package explain

import (
	"fmt"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
)

// wording is how a verb of effects is written: of what happens, and as a heading.
type wording struct{ happens, heading string }

// wordings are those of the verbs of effects.
var wordings = map[string]wording{
	eval.VerbPatch:   {"patches", "patch"},
	eval.VerbCreate:  {"creates", "create"},
	eval.VerbApply:   {"applies", "apply"},
	eval.VerbDelete:  {"deletes", "delete"},
	eval.VerbScale:   {"scales", "scale"},
	eval.VerbEvict:   {"evicts", "evict"},
	eval.VerbEvent:   {"records an Event about", "record an Event about"},
	eval.VerbApprove: {"approves or denies", "approve or deny"},
}

// answers are the wordings of VerbApprove by the condition that it adds.
var answers = map[any]wording{eval.Approved: {"approves", "approve"}, eval.Denied: {"denies", "deny"}}

func wordingOf(e *record.EffectDocument) wording {
	if w, ok := answers[added(e.Patch)]; ok && e.Verb == eval.VerbApprove {
		return w
	}
	if w, ok := wordings[e.Verb]; ok {
		return w
	}
	return wording{"makes the write " + e.Verb + " of", e.Verb}
}

// added returns the type of the condition that a patch adds after those that exist; a
// record that hides values does not have it.
func added(patch any) any {
	body, _ := patch.(map[string]any)
	status, _ := body["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	if len(conditions) == 0 {
		return nil
	}
	last, _ := conditions[len(conditions)-1].(map[string]any)
	return last["type"]
}

// happens says in words what an effect did, or what became of it.
func happens(e *record.EffectDocument) string {
	text := wordingOf(e).happens
	if e.Subresource != "" {
		text += " the " + e.Subresource + " of"
	}
	text += fmt.Sprintf(" %s %s", e.Target.Kind, e.Target.Name)
	if e.Result == "" || e.Result == "written" {
		return text
	}
	return text + " (" + e.Result + ")"
}

// heading names an effect in a list of them.
func heading(e *record.EffectDocument) string {
	text := fmt.Sprintf("%s %s %s", wordingOf(e).heading, e.Target.Kind, qualified(e.Target.Namespace, e.Target.Name))
	if e.Subresource != "" {
		text += " (" + e.Subresource + ")"
	}
	return text
}
