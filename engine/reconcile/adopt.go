package reconcile

import (
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// Adopt takes over what another revision of the policy knew: what its keys
// remember, what is debounced, which events were told. The other one must be at
// rest, and is not used again.
func (c *Controller) Adopt(old *Controller) {
	old.mu.Lock()
	defer old.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory, c.initial, c.events, c.pending = old.memory, old.initial, old.events, old.pending
	for name, i := range old.intents {
		rule := ruleNamed(c.Policy, old.Policy.Rules[i.rule].Name)
		if rule >= 0 {
			i.rule = rule
			c.intents[name] = i
		} else if i.pending {
			c.counts.Dropped.Inc()
		}
	}
}

// ruleNamed gives the place of a debounced rule, or -1.
func ruleNamed(p *plan.Policy, name string) int {
	for i, r := range p.Rules {
		if r.Name == name && r.Debounce != nil {
			return i
		}
	}
	return -1
}

// Waiting gives the keys that have something debounced; they may have no
// primary any more.
func (c *Controller) Waiting() (out []eval.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.intents {
		if i.pending {
			out = append(out, i.key)
		}
	}
	return out
}
