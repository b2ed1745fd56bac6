package reconcile

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/watch"
	"github.com/edict-dev/edict/engine/world"
)

// reach is how far a decision got.
type reach struct {
	// decided says that there was one.
	decided bool
	rules   eval.RuleSet
	// clean says that nothing failed.
	clean bool
	// retries says that the key is tried again by itself.
	retries bool
}

// reached notes how far a decision got. One that stood in for the key's object
// says nothing about it.
func (r *reconciliation) reached() {
	result := &r.result
	clean := result.Err == nil && result.Final == nil && !r.failed.held && len(result.Decision.Problems) == 0
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if k := r.c.states[r.key]; k != nil && k.memo != nil {
		k.last = reach{decided: true, rules: result.Decision.Ran, clean: clean, retries: result.Err != nil}
	}
}

// Adopt takes over what another revision of the policy knew: what its keys
// remember, what is debounced, which events were told, and what those keys read
// of which this one cannot decide otherwise. Of the keys given, which are those
// of Replay, and of those woken since, the others are returned, to be decided
// about again. Keys that the other controller is still deciding about are among
// them: it finishes these, and hands over what came of them (see inherit); until
// then they must not be decided about here.
func (c *Controller) Adopt(old *Controller, keys []eval.Key) (again []eval.Key) {
	for _, s := range []*shadow{old.shadow, c.shadow} { // the enforced policy may make either decide
		if s != nil {
			s.turn.Lock()
			defer s.turn.Unlock()
		}
	}
	old.mu.Lock()
	defer old.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	old.inForce.Store(false)
	c.inForce.Store(true)
	c.edited = true
	c.brake.Adopt(c.Policy)
	old.successor = c
	c.memories.copy(old.memories) // a rollout may have given keys to this one already
	c.states.takeInitial(old.states)
	c.writes.copy(old.writes)
	c.share(old)
	c.measure()
	defer old.retire()
	c.counts.Dropped.Add(float64(c.intents.copy(old.intents, c.debouncedAs(old))))
	all, bodies := differs(old.Policy, c.Policy)
	if c.shadow != nil && old.shadow != nil { // it writes nothing, and counts from the beginning
		all = true
		c.shadow.adopt(old.shadow)
	}
	for _, key := range c.withLate(keys) {
		was, compared := old.states.of(key), c.states.of(key).memo != nil
		if all || compared || was.busy || !was.last.clean || was.last.rules.Meets(bodies) {
			again = append(again, key)
			continue
		}
		c.states.at(key).last = was.last
		c.carry(key, old)
	}
	for _, key := range c.intents.waiting() { // their objects may be gone
		if !slices.Contains(again, key) {
			again = append(again, key)
		}
	}
	return again
}

// share lets the revision know the events that another has emitted, and count with it
// how many keys run a rule.
func (c *Controller) share(old *Controller) {
	if c.told != old.told { // it has not decided about anything yet
		c.told, c.flights = old.told, old.flights
	}
}

// withLate adds the keys that were woken since Replay: the other controller may
// have decided about them already.
func (c *Controller) withLate(keys []eval.Key) []eval.Key {
	for _, key := range keys {
		delete(c.late, key)
	}
	late := slices.SortedFunc(maps.Keys(c.late), watch.CompareKeys)
	c.late = nil
	return slices.Concat(keys, late)
}

// differs says what another revision of a policy may decide otherwise: for all
// keys, or for those for which certain rules got as far as an item.
func differs(old, now *plan.Policy) (all bool, bodies eval.RuleSet) {
	if old.Primary.Node.Hash() != now.Primary.Node.Hash() || len(old.Rules) != len(now.Rules) {
		return true, bodies
	}
	for i, r := range now.Rules {
		if old.Rules[i].Gate.Hash() != r.Gate.Hash() {
			return true, bodies
		}
		if old.Rules[i].Node.Hash() != r.Node.Hash() {
			bodies.Add(i)
		}
	}
	return false, bodies
}

// carry takes over what a key reads, so that a change of it wakes the key. What
// was computed from it is not kept.
func (c *Controller) carry(key eval.Key, old *Controller) {
	was := old.states.of(key).memo
	if was == nil {
		return
	}
	m := was.Carry(func(at eval.Lookup) int {
		if at.Target {
			return targetLike(c.Policy, old.Policy.Targets[at.Input].Source, at.Key)
		}
		return inputNamed(c.Policy, old.Policy.Inputs[at.Input].Name)
	})
	c.states.at(key).memo = m
	c.router.Looked(key, m.Lookups())
}

func inputNamed(p *plan.Policy, name string) int {
	return slices.IndexFunc(p.Inputs, func(in *plan.Input) bool { return in.Name == name })
}

// targetLike finds the target for an object that was one of a source before:
// what else the policy watches decides how narrow the sources of targets are.
func targetLike(p *plan.Policy, before world.Source, key string) int {
	same := slices.IndexFunc(p.Targets, func(t *plan.Target) bool { return t.Source == before })
	if same >= 0 {
		return same
	}
	id := eval.TargetID(before.GVK, key)
	return slices.IndexFunc(p.Targets, func(t *plan.Target) bool { return t.Source.May(id) })
}

// debouncedAs returns the number that a rule of another revision has in this one; -1 is
// that it is not there, or debounces nothing.
func (c *Controller) debouncedAs(old *Controller) func(rule int) int {
	return func(rule int) int {
		return slices.IndexFunc(c.Policy.Rules, func(r *plan.Rule) bool {
			return r.Name == old.Policy.Rules[rule].Name && r.Debounce != nil
		})
	}
}

// retire drops what the other revision has taken over, except for the keys that
// are still being decided about: they hand it over when they end.
func (c *Controller) retire() {
	done := func(key eval.Key) bool { return !c.states.of(key).busy }
	c.intents.dropAll(done)
	c.memories.drop(done)
	c.writes.drop(done)
	c.echoes.dropAll(func(eval.Key) bool { return true })
}

// inherit takes over what came of a key that another revision was deciding about
// when this one took over.
func (c *Controller) inherit(old *Controller, key eval.Key) {
	if next := c.takeOver(old, key); next != nil {
		next.inherit(c, key)
	}
}

// takeOver is inherit for one step; it returns the revision that has taken over
// from this one, too.
func (c *Controller) takeOver(old *Controller, key eval.Key) (next *Controller) {
	old.mu.Lock()
	defer old.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memories.move(old.memories, key)
	c.measure()
	c.writes.move(old.writes, key)
	c.counts.Dropped.Add(float64(c.intents.copyOf(old.intents, key, c.debouncedAs(old))))
	return c.successor
}
