package reconcile

import (
	"slices"

	"github.com/edict-dev/edict/engine/eval"
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

// reach returns how far the decision got. One that stood in for the key's object
// says nothing about it. held says that the brakes keep something back.
func (r *Result) reach(held bool) reach {
	clean := r.Err == nil && r.Final == nil && !held && len(r.Decision.Problems) == 0
	return reach{decided: true, rules: r.Decision.Ran, clean: clean, retries: r.Err != nil}
}

// reached notes how far the last decision about a key got, unless the key is gone.
func (k *known) reached(key eval.Key, last reach) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.states[key]; s != nil && s.memo != nil {
		s.last = last
	}
}

// Adopt takes over what another revision of the policy knew: what its keys
// remember, what is debounced, which events were told, and what those keys read
// of which this one cannot decide otherwise. Of the keys given, which are those
// of Replay, and of those woken since, the others are returned, to be decided
// about again. Keys that the other controller is still deciding about are among
// them: it finishes these, and hands over what came of them (see handOver); until
// then they must not be decided about here.
func (c *Controller) Adopt(old *Controller, keys []eval.Key) (again []eval.Key) {
	for _, s := range []*shadow{old.shadow, c.shadow} { // the enforced policy may make either decide
		if s != nil {
			s.turn.Lock()
			defer s.turn.Unlock()
		}
	}
	old.known.mu.Lock()
	defer old.known.mu.Unlock()
	c.known.mu.Lock()
	defer c.known.mu.Unlock()
	before, now := &old.known.revisions, &c.known.revisions
	before.inForce.Store(false)
	now.inForce.Store(true)
	now.edited = true
	c.brake.Adopt(c.Policy)
	before.successor = c
	t := takeover{from: old, to: c}
	defer t.retire()
	t.all()
	for _, key := range now.withLate(keys) {
		if !t.keep(key) {
			again = append(again, key)
		}
	}
	for _, key := range c.known.intents.waiting() { // their objects may be gone
		if !slices.Contains(again, key) {
			again = append(again, key)
		}
	}
	return again
}
