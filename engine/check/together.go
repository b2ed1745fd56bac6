package check

import (
	"fmt"
	"slices"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/graph"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// together finds what policies do to each other.
func together(b *source.Bundle, problems *document.Problems, related Related) {
	loops(b, problems, related)
	authorities(b, problems)
	enforced := slices.DeleteFunc(slices.Clone(b.Policies), func(p *plan.Policy) bool { return p.Mode != plan.Enforce })
	for _, c := range graph.Conflicts(enforced) {
		found := addFinding(b, problems, document.ConflictingWriters, c.Second.Rule.Pos, "let one policy write it, or make their selectors or conditions exclude each other",
			fmt.Sprintf("%s (%s)", c, c.First.Rule.Pos))
		related[found] = append(related[found], writer(c.First.Policy, c.First.Rule))
	}
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
