package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/simulate"
)

// rest finds policies that write for ever: each is run on one primary object that only
// has a name and labels that its selector matches.
func rest(p *policy) {
	if p.plan.Mode != plan.Enforce || slices.ContainsFunc(p.problems.List(), func(f document.Problem) bool { return f.Code == document.SelfFeeding }) {
		return
	}
	ctx := context.Background()
	sim := simulate.New(ctx, simulate.Options{
		Policies: []*plan.Policy{p.plan}, Schemas: p.bundle.Schemas, Objects: []simulate.Object{p.example()},
		Guard: guard.New(p.bundle.Allowances).Assuming(), Start: time.Now(),
	})
	sim.Settle(ctx)
	if sim.Ended() == "" {
		return
	}
	effects := sim.Effects()
	rules := strings.Split(effects[len(effects)-1].Rule, ", ")
	for _, r := range p.plan.Rules {
		if slices.Contains(rules, r.Name) {
			p.report(document.SelfFeeding, r.Pos, "write only when something else has changed, or what is the same when it is computed again",
				fmt.Sprintf("the policy never comes to rest on a %s that has only a name: the rule %q writes in every evaluation, and every write causes the next", p.plan.Primary.Kind, r.Name))
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
