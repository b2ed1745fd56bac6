package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
)

// Sentence says in one sentence what was decided about a key of a kind, why, what
// made the controller evaluate it, and when it is evaluated again.
func Sentence(kind string, d *record.Document) string {
	parts := []string{fmt.Sprintf("%s %s: %s", kind, d.Key, strings.Join(decided(d), "; "))}
	if len(d.WokenBy) > 0 {
		parts = append(parts, "it was evaluated because "+woken(d.WokenBy))
	}
	return strings.Join(append(parts, "next evaluation: "+next(d)), "; ") + "."
}

// decided says of each rule that matters why it did what it did.
func decided(d *record.Document) (out []string) {
	for i := range d.Rules {
		if r := &d.Rules[i]; r.Outcome == record.OutcomeFailed {
			out = append(out, fmt.Sprintf("the rule %q failed: %s", r.Name, FirstLine(failure(r))))
		}
	}
	waits := delayed(d.Rules)
	switch {
	case len(d.Effects) > 0:
		out = append(out, applied(d, func(r *record.RuleDocument) bool { return len(writes(d, r.Name)) > 0 })...)
	case len(out) == 0 && len(waits) == 0:
		out = settled(d)
	}
	return append(out, waits...)
}

// applied says of the rules that were applied, and that matter, why and what they
// did.
func applied(d *record.Document, matters func(*record.RuleDocument) bool) (out []string) {
	for i := range d.Rules {
		if r := &d.Rules[i]; r.Outcome == record.OutcomeFired && matters(r) {
			out = append(out, fired(d, r))
		}
	}
	return out
}

// settled says why nothing is written.
func settled(d *record.Document) []string {
	conditional := applied(d, func(r *record.RuleDocument) bool { return r.When != nil })
	any := applied(d, func(*record.RuleDocument) bool { return true })
	switch {
	case len(conditional) > 0:
		return append([]string{"nothing has to be written"}, conditional...)
	case len(any) > 0:
		return append([]string{"nothing has to be written"}, any[:min(len(any), maxNamed)]...)
	case !slices.ContainsFunc(d.Rules, func(r record.RuleDocument) bool { return r.Outcome != record.OutcomeNotReached }):
		return []string{"no rule was evaluated" + because(FirstLine(d.Error))}
	}
	return []string{"no rule applies" + because(strings.Join(skipped(d.Rules), ", "))}
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " because " + why
}

// fired says why a rule applies, and what it did.
func fired(d *record.Document, r *record.RuleDocument) string {
	text := fmt.Sprintf("the rule %q applies", r.Name)
	if named := items(r.Items, acted); named != "" {
		text += " to " + named
	}
	if r.When != nil && r.Child == "" { // that of a child is not the author's
		text += because(and(Reasons(r.When)))
	}
	text += noCase(r)
	if texts := writes(d, r.Name); len(texts) > 0 {
		text += ", and " + and(texts)
	}
	return text
}

// acted reports whether the rule did something for an item.
func acted(i record.ItemDocument) bool { return i.Ran && i.Rows == nil }

// noCase names the items for which no row of the decision table holds, and the reason if it
// is a single one.
func noCase(r *record.RuleDocument) string {
	none := slices.DeleteFunc(slices.Clone(r.Items), func(i record.ItemDocument) bool { return i.Rows == nil })
	if len(none) == 0 {
		return ""
	}
	text := ", but no case holds"
	if r.Child != "" {
		text = ", but nothing is wanted"
	}
	if named := items(none, func(record.ItemDocument) bool { return true }); named != "" {
		text += " for " + named
	}
	if len(none) == 1 {
		text += because(and(rowReasons(&none[0])))
	}
	return text
}

// rowReasons returns the reasons why no row of a decision table holds for an item.
func rowReasons(i *record.ItemDocument) (out []string) {
	for j := range i.Rows {
		out = append(out, Reasons(&i.Rows[j])...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maxNamed is how many names a sentence has.
const maxNamed = 3

// items names those of some kind.
func items(list []record.ItemDocument, are func(record.ItemDocument) bool) string {
	var names []string
	for _, i := range list {
		if i.Key != "" && are(i) {
			names = append(names, i.Key)
		}
	}
	if len(names) > maxNamed {
		names = append(names[:maxNamed], fmt.Sprintf("%d more", len(names)-maxNamed))
	}
	return and(names)
}

// writes says what a rule writes.
func writes(d *record.Document, rule string) (out []string) {
	for i := range d.Effects {
		e := &d.Effects[i]
		if !slices.Contains(strings.Split(e.Rule, ", "), rule) {
			continue
		}
		if text := happens(e); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(out) > maxNamed {
		out = append(out[:maxNamed], fmt.Sprintf("makes %d more writes", len(out)-maxNamed))
	}
	return out
}

// skipped says why each rule does not apply.
func skipped(rules []record.RuleDocument) (out []string) {
	for i := range rules {
		r := &rules[i]
		switch {
		case r.Outcome != record.OutcomeSkipped:
		case r.When != nil && r.When.Value != true:
			out = append(out, fmt.Sprintf("%s (rule %q)", and(Reasons(r.When)), r.Name))
		case len(r.Items) == 0:
			out = append(out, fmt.Sprintf("the list of the rule %q is empty", r.Name))
		default:
			out = append(out, fmt.Sprintf("no item of the rule %q matches", r.Name))
		}
	}
	return out
}

func failure(r *record.RuleDocument) string {
	if r.Error != "" {
		return r.Error
	}
	for _, i := range r.Items {
		if i.Error != "" && i.Key != "" {
			return i.Key + ": " + i.Error
		}
		if i.Error != "" {
			return i.Error
		}
	}
	return "an item failed"
}

// Reasons says of the parts that decided a condition what each of them is.
func Reasons(w *record.WhenDocument) (out []string) {
	if len(w.Parts) == 0 {
		return []string{reason(w)}
	}
	for i := range w.Parts {
		out = append(out, Reasons(&w.Parts[i])...)
	}
	return out
}

func reason(w *record.WhenDocument) string {
	text := "`" + oneLine(w.Text) + "`"
	switch {
	case w.Error != "":
		return text + " fails: " + FirstLine(w.Error)
	default:
		return fmt.Sprintf("%s is %v", text, w.Value)
	}
}

func and(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// woken says what made the controller evaluate the key.
func woken(list []record.WakeDocument) string {
	var texts []string
	for _, w := range list {
		texts = append(texts, wake(w))
	}
	texts = slices.Compact(texts)
	if len(texts) > maxNamed {
		texts = append(texts[:maxNamed], fmt.Sprintf("%d more changes", len(texts)-maxNamed))
	}
	return and(texts)
}

func wake(w record.WakeDocument) string {
	object := ""
	if w.Object != nil {
		object = w.Object.Kind + "/" + w.Object.Name
	}
	switch w.Reason {
	case record.Created:
		return object + " was created"
	case record.Deleted:
		return object + " was deleted"
	case record.Changed:
		if len(w.Fields) == 0 {
			return object + " changed"
		}
		return object + " changed " + and(w.Fields[:min(len(w.Fields), maxNamed)])
	case record.Deadline:
		return "its time had come"
	case record.Retry:
		return "an evaluation before had failed"
	case record.Edit:
		return "the policy was edited"
	default:
		return "the policy started"
	}
}

func next(d *record.Document) string {
	switch {
	case d.Next == nil && slices.ContainsFunc(d.Effects, unwritten):
		return "when the writes are tried again, with back-off"
	case d.Next == nil:
		return "none planned"
	}
	text := d.Next.Format(time.RFC3339Nano)
	for _, deadline := range d.Deadlines {
		if deadline.At.Equal(*d.Next) && deadline.Why != "" {
			return text + " (" + deadline.Why + ")"
		}
	}
	return text
}

// unwritten reports whether a write is tried again.
func unwritten(e record.EffectDocument) bool {
	return slices.Contains([]string{"failed", "conflict", "refused"}, e.Result)
}

// FirstLine returns a text up to its first line break.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// oneLine returns a text with its line breaks and indentation made blanks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// delayed says of each rule that waits when it runs, and why it is wanted.
func delayed(rules []record.RuleDocument) (out []string) {
	for i := range rules {
		if r := &rules[i]; r.Delayed != nil {
			out = append(out, fmt.Sprintf("the rule %q waits %s", r.Name, until(r.Delayed))+wanted(r.When))
		}
	}
	return out
}

// until says how long a run waits.
func until(d *record.DelayDocument) string {
	if d.Items > 0 {
		return fmt.Sprintf("until %s because of its rate (items: %d)", d.Due.Format(time.RFC3339Nano), d.Items)
	}
	return fmt.Sprintf("until %s because of its debounce, key %q", d.Due.Format(time.RFC3339Nano), d.Key)
}

// wanted says why a run is wanted: its condition holds, or did when the run became
// pending.
func wanted(when *record.WhenDocument) string {
	switch {
	case when == nil:
		return ""
	case when.Value == true:
		return ", and is to run because " + and(Reasons(when))
	}
	return ", and is to run although " + and(Reasons(when)) + " by now"
}

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
