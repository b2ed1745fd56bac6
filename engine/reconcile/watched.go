package reconcile

import (
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/selector"
)

// watched returns those of some keys that this installation decides about, or has decided
// about before: of these all that is known has to be forgotten.
func (c *Controller) watched(keys []eval.Key) []eval.Key {
	if c.reads.watched == selector.Everything || len(keys) == 0 {
		return keys
	}
	snapshot := c.group.store.Snapshot()
	return slices.DeleteFunc(keys, func(key eval.Key) bool {
		return !c.reads.watches(snapshot, key) && !c.known.knows(key)
	})
}

// noteTakeover notes a change by which the labels of a primary object begin to match the
// selector of this installation: it counts as one of the first list, and
// is decided about as soon as no other installation can.
func (c *Controller) noteTakeover(by *change) {
	if by.old == nil || by.now == nil || by.source != c.Policy.Primary.Source {
		return
	}
	if w := c.reads.watched; !w.MatchesLabelsOf(by.old.Value) && w.MatchesLabelsOf(by.now.Value) {
		c.known.takeOver(eval.Key{Namespace: by.now.Namespace, Name: by.now.Name}, time.Now().Add(c.group.HandOver))
	}
}

// knows reports whether something is known of a key.
func (k *known) knows(key eval.Key) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.states[key] != nil || !k.intents.next(key).IsZero()
}

// takeOver notes that a key was in the first list, and may be decided about from a time on.
func (k *known) takeOver(key eval.Key, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.states.at(key)
	s.initial, s.takeover = true, at
}

// takeover returns when a key may be decided about first; zero if it may be now.
func (k *known) takeover(key eval.Key, now time.Time) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.states[key]
	if s == nil {
		return time.Time{}
	}
	if !s.takeover.After(now) {
		s.takeover = time.Time{}
	}
	return s.takeover
}

// leave drops what is known of a key that another installation decides about, except the
// pending runs.
func (c *Controller) leave(key eval.Key) {
	if c.known.intents.next(key).IsZero() {
		c.known.counts.Remembered.Sub(float64(c.known.memories.forget(key)))
	}
	c.forget(key, c.known.memo(key))
}

// Left returns the number of objects that the policy selects and this installation leaves to
// others.
func (c *Controller) Left() (n int) {
	if c.reads.watched == selector.Everything {
		return 0
	}
	for _, o := range c.group.store.Snapshot().Table(c.Policy.Primary.Source).All() {
		if c.Policy.Primary.Selects(o) && !c.reads.watched.MatchesLabelsOf(o.Value) {
			n++
		}
	}
	return n
}

// Watches reports whether this installation decides about a key.
func (c *Controller) Watches(key eval.Key) bool {
	return c.reads.watches(c.group.store.Snapshot(), key)
}
