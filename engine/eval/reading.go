package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Progress is how far a decision got: Reached are the rules of which it was found out
// whether they apply, Ran those that got as far as an item.
type Progress struct{ Reached, Ran RuleSet }

// Readings are what the rules of a policy may read of the objects of some inputs, by
// rule and input: gates what decides whether a rule applies, rules all that it reads.
// Inputs that are not asked for have nil. nothing is what is read when no rule is reached.
type Readings struct {
	gates, rules [][]*value.Mask
	nothing      []*value.Mask
}

// NewReadings finds the readings of a policy for the inputs that are asked for.
func NewReadings(p *plan.Policy, of func(*plan.Input) bool) *Readings {
	out := &Readings{nothing: readings(p, &analyze.Node{}, of)}
	for _, r := range p.Rules {
		out.gates, out.rules = append(out.gates, readings(p, r.Gate, of)), append(out.rules, readings(p, r.Node, of))
	}
	return out
}

func readings(p *plan.Policy, node *analyze.Node, of func(*plan.Input) bool) []*value.Mask {
	seen, out := map[*analyze.Node]bool{}, make([]*value.Mask, len(p.Inputs))
	node.Reach(seen)
	for i, in := range p.Inputs {
		if of(in) {
			out[i] = reading(seen, analyze.Root{Kind: analyze.Input, Index: i})
		}
	}
	return out
}

// Of returns what decisions that got so far may have read of the inputs' objects: of
// rules that were reached what decides whether they apply, of those that ran everything,
// and of the rest nothing. A change of anything else leads to the same decision, unless
// a rule failed.
func (r *Readings) Of(to Progress) []*value.Mask {
	out := slices.Clone(r.nothing)
	for rule := range r.rules {
		if to.Reached.Has(rule) {
			merge(out, r.gates[rule])
		}
		if to.Ran.Has(rule) {
			merge(out, r.rules[rule])
		}
	}
	return out
}

func merge(into, more []*value.Mask) {
	for i, mask := range more {
		into[i] = value.Merge(into[i], mask)
	}
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
