package check

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// together finds what policies do to each other.
func together(b *source.Bundle, problems *document.Problems, related Related) {
	loops(b, problems, related)
	authorities(b, problems)
	var writes []graph.Write
	for _, p := range b.Policies {
		if p.Mode == plan.Enforce {
			writes = append(writes, graph.Writes(p)...)
		}
	}
	for i, w := range writes {
		for _, first := range writes[:i] {
			if field := shared(first, w); field != "" {
				found := addFinding(b, problems, document.ConflictingWriters, w.Rule.Pos, "let one policy write it, or make their selectors or conditions exclude each other",
					fmt.Sprintf("the rule %q of %s %s, and so does the rule %q of %s (%s)", w.Rule.Name, w.Policy.Name, both(first, w, field), first.Rule.Name, first.Policy.Name, first.Rule.Pos))
				related[found] = append(related[found], writer(first.Policy, first.Rule))
			}
		}
	}
}

// both says what two rules do.
func both(a, b graph.Write, field string) string {
	x, _ := a.Action.(*plan.Child)
	y, _ := b.Action.(*plan.Child)
	if x != nil && y != nil && x.Kept && y.Kept {
		return "keeps a " + b.Kind + " as a child"
	}
	return "writes " + field + " of " + b.Kind
}

// writer is the place of a rule.
func writer(p *plan.Policy, r *plan.Rule) Place {
	return Place{r.Pos, fmt.Sprintf("the rule %q of %s", r.Name, p.Name)}
}

// addFinding adds a finding, with the line that it is on, and returns it.
func addFinding(b *source.Bundle, problems *document.Problems, code document.Code, at document.Position, hint, message string) document.Problem {
	found := code.At(at, hint, message)
	for _, u := range b.Units {
		if u.File.Path == at.File {
			found.Source = document.NewSource(at.File, u.File.Text).Line(at.Line)
		}
	}
	problems.Add(found)
	return found
}

// authorities finds policies that write a field which another policy obeys.
func authorities(b *source.Bundle, problems *document.Problems) {
	type pair struct{ writer, obeys string }
	said := map[pair]bool{}
	for _, a := range guard.Authorities(b.Policies) {
		if one := (pair{a.Writer, a.Obeys}); !said[one] {
			said[one] = true
			_ = addFinding(b, problems, document.Authority, a.Position, "pin the allowances of both policies; edict graph lists the other fields", a.String())
		}
	}
}

func loops(b *source.Bundle, problems *document.Problems, related Related) {
	for _, l := range graph.Loops(b.Policies) {
		var rules []Place
		for _, e := range l.Edges {
			rules = append(rules, ruleOf(b, e.From)...)
		}
		if len(rules) == 0 {
			continue
		}
		found := addFinding(b, problems, document.FeedbackLoop, rules[0].At, "make sure that it comes to rest: edict simulate reports policies that never do", "a loop: "+l.String())
		related[found] = rules[1:]
	}
}

// ruleOf returns the place of a rule that is part of a loop.
func ruleOf(b *source.Bundle, from graph.From) (out []Place) {
	for _, p := range b.Policies {
		for _, r := range p.Rules {
			if p.ID() == from.Policy && r.Name == from.Rule {
				out = append(out, writer(p, r))
			}
		}
	}
	return out
}

// shared returns the field that two policies write of one object; "" when they write
// none, or when that is not known.
func shared(a, b graph.Write) string {
	if a.Policy == b.Policy || a.GVK != b.GVK || a.Subresource != b.Subresource || !meet(a, b) || graph.Exclusive(a, b) {
		return ""
	}
	if !sameEntry(a.Action, b.Action) {
		return ""
	}
	for _, x := range a.Fields {
		for _, y := range b.Fields {
			if field := narrower(x, y); field != "" && graph.Definite(x) && graph.Definite(y) && !graph.Same(a, b, field) {
				return field
			}
		}
	}
	return ""
}

// narrower returns the field that is the other one or below it; "" when neither is.
func narrower(x, y string) string {
	switch {
	case x == y || strings.HasPrefix(x, y+"."):
		return x
	case strings.HasPrefix(y, x+"."):
		return y
	}
	return ""
}

// meet reports whether two writes are known to be of one object: both are of the
// primary object, of policies that may decide about the same one, or are named after it
// alike; or both name it.
func meet(a, b graph.Write) bool {
	if a.Own && b.Own || a.Policy.Primary.GVK == b.Policy.Primary.GVK && a.Naming == b.Naming && a.Naming.Depends() {
		return !graph.Disjoint(a.Policy, b.Policy)
	}
	if a.Named == nil || b.Named == nil {
		return false
	}
	return a.Named.Name.Value != "" && a.Named.Name == b.Named.Name && a.Named.Namespace == b.Named.Namespace
}

// sameEntry reports whether two actions write the same condition, or entry of a list, as
// far as they say which.
func sameEntry(a, b plan.Action) bool {
	if x, ok := a.(*plan.Condition); ok {
		y, also := b.(*plan.Condition)
		return also && known(x.Type.Constant(), y.Type.Constant())
	}
	if x, ok := a.(*plan.ListEntry); ok {
		y, also := b.(*plan.ListEntry)
		return also && known(x.By.Constant(), y.By.Constant())
	}
	_, condition := b.(*plan.Condition)
	_, entry := b.(*plan.ListEntry)
	return !condition && !entry
}

func known(a, b value.Value) bool { return a != nil && b != nil && value.Same(a, b) }
