package reconcile

import (
	"maps"
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/watch"
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
	t := takeover{from: old, to: c}
	defer t.retire()
	t.all()
	for _, key := range c.withLate(keys) {
		if !t.keep(key) {
			again = append(again, key)
		}
	}
	for _, key := range c.intents.waiting() { // their objects may be gone
		if !slices.Contains(again, key) {
			again = append(again, key)
		}
	}
	return again
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

// inherit takes over what came of a key that another revision was deciding about
// when this one took over, also from this one.
func (c *Controller) inherit(old *Controller, key eval.Key) {
	if next := (&takeover{from: old, to: c}).late(key); next != nil {
		next.inherit(c, key)
	}
}
