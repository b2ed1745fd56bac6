package compile

import (
	"regexp"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// newPlan begins a plan with name and mode; nil when the policy cannot be compiled
// at all.
func newPlan(doc *v1alpha1.Policy, problems *findings) *plan.Policy {
	name := doc.Metadata.Name
	switch {
	case !name.Set():
		problems.Errorf(doc.Pos, "metadata.name is missing")
		return nil
	case !nameForm.MatchString(name.Value):
		problems.Hintf(name.Pos(), "lower-case letters, digits and dashes, at most 63", "%q cannot be the name of a policy", name.Value)
	}
	out := &plan.Policy{Name: name.Value, Of: doc.Of, Source: doc.Pos, Graph: analyze.New(analyze.Policy, name.Value, doc.Pos)}
	out.Mode = mode(doc.Spec.Mode, problems)
	var rules []string
	for i := range doc.Spec.Rules {
		rules = append(rules, doc.Spec.Rules[i].Name.Value)
	}
	out.MarkKeys = plan.MarkKeys(doc.ID(), rules)
	if !doc.Spec.For.Kind.Set() || !doc.Spec.For.APIVersion.Set() {
		problems.Hintf(doc.Pos, "spec.for: {apiVersion: ..., kind: ...} says which objects the policy decides about", "spec.for is missing")
		return nil
	}
	return out
}

func mode(t v1alpha1.Text, problems *findings) plan.Mode {
	switch t.Value {
	case "":
		return plan.Enforce
	case v1alpha1.ModeEnforce, v1alpha1.ModeShadow, v1alpha1.ModeDisabled:
	default:
		problems.Hintf(t.Pos(), "Enforce, Shadow or Disabled", "unknown mode %q", t.Value)
	}
	return plan.Mode(t.Value)
}

// unused warns about variables that neither a rule nor a metric uses, directly
// or through others.
func unused(docs []v1alpha1.Variable, graph *analyze.Node, n *names, problems *findings) {
	if problems.HasErrors() {
		return // what does not compile uses nothing
	}
	seen := map[*analyze.Node]bool{}
	for _, part := range graph.Parts {
		if part.Kind == analyze.Rule || part.Kind == analyze.Metric {
			part.Reach(seen)
		}
	}
	for i := range docs {
		if name := docs[i].Name; !seen[n.node(analyze.VariableRef(name.Value))] {
			problems.Reportf(document.UnusedVariable, name.Pos(), "", "the variable %q is used by no rule and no metric", name.Value)
		}
	}
}
