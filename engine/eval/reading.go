package eval

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Progress is how far a decision got: Reached are the rules of which it was found out
// whether they apply, Ran those that got as far as an item.
type Progress struct{ Reached, Ran RuleSet }

// Readings returns, for some inputs, what decisions that got so far may have read of
// their objects: of rules that were reached what decides whether they apply, of those
// that ran everything, and of the rest nothing. A change of anything else leads to the
// same decision, unless a rule failed. Inputs that are not asked for have nil.
func Readings(p *plan.Policy, to Progress, of func(*plan.Input) bool) []*value.Mask {
	seen := map[*analyze.Node]bool{}
	for i, r := range p.Rules {
		if to.Reached.Has(i) {
			r.Gate.Reach(seen)
		}
		if to.Ran.Has(i) {
			r.Node.Reach(seen)
		}
	}
	out := make([]*value.Mask, len(p.Inputs))
	for i, in := range p.Inputs {
		if of(in) {
			out[i] = reading(seen, analyze.Root{Kind: analyze.Input, Index: i})
		}
	}
	return out
}

// reading returns what nodes read of an input, or hand on of it.
func reading(nodes map[*analyze.Node]bool, root analyze.Root) *value.Mask {
	mask := &value.Mask{}
	for n := range nodes {
		for _, reads := range []analyze.Reads{n.Reads, n.Compares, n.HandsOn} {
			mask = value.Merge(mask, reads[root])
		}
	}
	return mask
}
