package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/simulate"
)

// maxEvaluations bounds the work of rest, for a text that is expensive to evaluate.
const maxEvaluations = 100

// rest reports a policy that keeps writing to a primary object that has only a name and the
// labels of the selector.
func rest(p *policy) {
	if p.plan.Mode != plan.Enforce || slices.ContainsFunc(p.problems.List(), func(f document.Problem) bool { return f.Code == document.SelfFeeding }) {
		return
	}
	ctx := context.Background()
	sim := simulate.New(ctx, simulate.Options{
		Policies: []*plan.Policy{p.plan}, Schemas: p.bundle.Schemas, Objects: []simulate.Object{p.example()},
		Guard: simulate.GuardOf(p.bundle).Assuming(), Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	for range maxEvaluations {
		pending := sim.Pending()
		if len(pending) == 0 {
			return
		}
		sim.Decide(ctx, pending[0])
	}
	effects := sim.Effects()
	if len(effects) == 0 {
		return
	}
	rules := strings.Split(effects[len(effects)-1].Rule, ", ")
	for _, r := range p.plan.Rules {
		if slices.Contains(rules, r.Name) {
			hint := "write only when something else has changed, or what is the same when it is computed again"
			if slices.ContainsFunc(r.Do, func(a plan.Action) bool { _, ok := a.(*plan.ListEntry); return ok }) {
				hint = "by must find the entry that was written before, so entry changes no field of by: what by does not find is appended"
			}
			p.report(document.SelfFeeding, r.Pos, hint,
				fmt.Sprintf("after %d evaluations of a %s that has only a name, the rule %q still writes, and every write causes the next evaluation", maxEvaluations, p.plan.Primary.Kind, r.Name))
			return
		}
	}
}

// example returns an object that the policy decides about.
func (p *policy) example() simulate.Object {
	primary := &p.plan.Primary
	metadata := map[string]any{"name": "example", "uid": "00000000-0000-4000-8000-000000000000"}
	if labels := primary.Selector.Example(); len(labels) > 0 {
		of := map[string]any{}
		for name, text := range labels {
			of[name] = text
		}
		metadata["labels"] = of
	}
	if r, _ := p.bundle.Schemas.Resource(primary.GVK); r.Namespaced {
		metadata["namespace"] = append(slices.Clone(primary.Namespaces), "default")[0]
	}
	return simulate.Object{"apiVersion": primary.APIVersion, "kind": primary.Kind, "metadata": metadata}
}
