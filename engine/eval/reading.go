package eval

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Progress is how far a decision got: Reached are the rules of which it was found out
// whether they apply, Ran those that got as far as an item.
type Progress struct{ Reached, Ran RuleSet }

// Reading returns what decisions that got so far may have read of the objects of an
// input: of rules that were reached what decides whether they apply, of those that ran
// everything, and of the rest nothing. A change of anything else leads to the same
// decision, unless a rule failed.
func Reading(p *plan.Policy, to Progress, input int) *value.Mask {
	seen := map[*analyze.Node]bool{}
	for i, r := range p.Rules {
		if to.Reached.Has(i) {
			r.Gate.Reach(seen)
		}
		if to.Ran.Has(i) {
			r.Node.Reach(seen)
		}
	}
	root := analyze.Root{Kind: analyze.Input, Index: input}
	mask := &value.Mask{}
	for n := range seen {
		mask = value.Merge(mask, value.Merge(n.AllReads()[root], n.HandsOn[root]))
	}
	return mask
}
