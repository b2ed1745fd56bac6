package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/identity"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/plan"
)

// maxAnnotation is the most bytes of the part of an annotation's name after the slash.
const maxAnnotation = 63

// withHeld returns a policy in which each condition of a rule that must hold for some time
// is three parts: a variable with the condition, a rule that keeps the time since when it
// is true in an annotation, and a comparison with that time.
func withHeld(doc *v1alpha1.Policy, problems *findings) *v1alpha1.Policy {
	if !slices.ContainsFunc(doc.Spec.Rules, func(r v1alpha1.Rule) bool { return r.When.Timed() }) {
		return doc
	}
	spec := doc.Node.Get("spec")
	h := held{policy: doc, problems: problems, names: map[string]bool{}, variables: slices.Clone(spec.Get("variables").Items())}
	for i, node := range spec.Get("rules").Items() {
		h.rule(&doc.Spec.Rules[i], node)
	}
	out := *doc
	added := h.variables[len(doc.Spec.Variables):]
	out.Spec.Rules = h.rules
	out.Spec.Variables = slices.Concat(doc.Spec.Variables, load.Items[v1alpha1.Variable](added, "variables", &problems.Problems))
	out.Node = doc.Node.With("spec", spec.With("variables", document.NewList(spec.Pos, h.variables...)).With("rules", document.NewList(spec.Pos, h.nodes...)))
	return &out
}

// held gathers the rules and variables of a policy, with their nodes.
type held struct {
	policy    *v1alpha1.Policy
	problems  *findings
	names     map[string]bool
	rules     []v1alpha1.Rule
	nodes     []*document.Node
	variables []*document.Node
}

// rule adds a rule, after the one that keeps its time.
func (h *held) rule(r *v1alpha1.Rule, node *document.Node) {
	if !r.When.Timed() || !h.valid(r) {
		other := *r
		if r.When.Timed() {
			other.When = v1alpha1.Condition{} // reported
		}
		h.rules, h.nodes = append(h.rules, other), append(h.nodes, node)
		return
	}
	at, name := r.When.Held.Pos(), slug(r.Name.Value)
	empty := &document.Node{Kind: document.Map, Pos: at}
	condition := "held_" + strings.ReplaceAll(name, "-", "_")
	annotation := identity.MarkKey(plan.HeldPrefix, h.policy.ID(), r.Name.Value)
	h.variables = append(h.variables, empty.With("name", document.NewText(at, condition)).With("expression", r.When.Held.Node))
	stored := annotationOf(annotation)
	// Ignore times more than MaxAhead after now: clocks of processes differ by less.
	since := fmt.Sprintf("timestamp.parse(%s.orValue(\"\")).optFlatMap(t, elapsed(t, duration(%q)) ? optional.of(t) : optional.none())", stored, -plan.MaxAhead)
	row := func(name, when string, value *document.Node) *document.Node {
		set := empty.With("annotations", empty.With("set", empty.With(annotation, value)))
		return empty.With("name", document.NewText(at, name)).With("when", document.NewText(at, when)).With("do", document.NewList(at, set))
	}
	timer := empty.With("name", document.NewText(at, r.Name.Value+": since when")).With("cases", document.NewList(at,
		row("begins", "variables."+condition+" && !"+since+".hasValue()", document.NewText(at, "${string(now)}")),
		row("ends", "!variables."+condition+" && "+stored+".hasValue()", &document.Node{Kind: document.Null, Pos: at})))
	after := node.With("when", document.NewText(at, fmt.Sprintf("variables.%s && %s.hasValue() && elapsed(%s.value(), %s)", condition, since, since, duration(r.When.For))))
	h.nodes = append(h.nodes, timer, after)
	h.rules = append(h.rules, load.Items[v1alpha1.Rule]([]*document.Node{timer, after}, "rules", &h.problems.Problems)...)
}

// valid reports whether the time of a rule's condition can be kept.
func (h *held) valid(r *v1alpha1.Rule) bool {
	if c := &r.When; !c.Held.Set() || !c.For.Set() {
		h.problems.Hintf(c.Pos(), "when: {held: EXPRESSION, for: 5m}", "a condition that must hold for some time has held and for")
		return false
	}
	return positive(r.When.For, h.problems) && mayKeep(h.policy, r, r.When.Pos(), h.names, h.problems)
}

// annotationOf returns a CEL expression for an annotation of the primary object, an optional.
func annotationOf(name string) string { return fmt.Sprintf("object.metadata.?annotations[?%q]", name) }

// mayKeep reports whether a rule can keep times in an annotation of the primary object, and
// adds the annotation's name to those of the other rules.
func mayKeep(policy *v1alpha1.Policy, r *v1alpha1.Rule, at document.Position, names map[string]bool, problems *findings) bool {
	name := policy.Metadata.Name.Value + "." + slug(r.Name.Value)
	switch {
	case policy.Spec.For.Optional:
		problems.Hintf(at, "remove optional", "times are kept in an annotation of the primary object, and a key may have none")
	case slug(r.Name.Value) == "" || names[name]:
		problems.Hintf(at, "give the rule another name", "the annotation of the times is named by the letters and digits of the rule, and another rule has the same or %q has none", r.Name.Value)
	case len(name) > maxAnnotation:
		problems.Hintf(at, "give the rule a shorter name", "the annotation of the times is named %s, which is longer than %d bytes", name, maxAnnotation)
	default:
		names[name] = true
		return true
	}
	return false
}

// positive reports whether a duration is longer than nothing, as far as it is written out, and
// rejects one that is not.
func positive(t v1alpha1.Text, problems *findings) bool {
	d, err := time.ParseDuration(t.Value)
	switch {
	case err == nil && d <= 0:
		problems.Hintf(t.Pos(), "such as 5m", "the duration %s is not longer than nothing", t.Value)
	case err != nil && durationForm.MatchString(t.Value):
		problems.Hintf(t.Pos(), "at most 2562047h", "the duration %s is too long", t.Value)
	default:
		return true
	}
	return false
}

// durationForm matches texts in the syntax of time.ParseDuration, also those out of its range.
var durationForm = regexp.MustCompile(`^-?([0-9.]+(ns|us|ms|s|m|h))+$`)

// duration returns a CEL expression for a duration such as 5m, or for an expression.
func duration(t v1alpha1.Text) string {
	if _, err := time.ParseDuration(t.Value); err == nil {
		return fmt.Sprintf("duration(%q)", t.Value)
	}
	return "(" + t.Value + ")"
}

// slug returns the letters and digits of a name in lower case, with a dash between words.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}
