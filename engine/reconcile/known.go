package reconcile

import (
	"sync"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
)

// known is what a controller knows of its keys from before, and who else decides about
// them. It is safe for concurrent use. Its parts that are pointers have locks of their
// own, which are taken after mu.
type known struct {
	mu     sync.Mutex
	states keyStates
	// revisions are the other ones of the policy.
	revisions revisions
	// bytes is how much is kept between evaluations.
	bytes retention

	// memories are what the keys remember.
	memories *memories
	// writes are those that the read model does not show yet.
	writes *pendingWrites
	// echoes are answers for keys that wait for what they wrote.
	echoes *echoes
	// intents are what is debounced.
	intents *intents
	wakes   *wakes

	counts *observe.Counts
}

// init makes it ready for use.
func (k *known) init(g *Group, counts *observe.Counts) {
	k.states, k.counts = keyStates{}, counts
	k.revisions.told = newTold()
	k.bytes.process = &g.keeping
	k.memories, k.writes, k.echoes, k.intents, k.wakes = newMemories(), newPendingWrites(), newEchoes(), newIntents(), newWakes()
}

// begin notes that a key is being decided about.
func (k *known) begin(key eval.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.states.at(key).busy = true
}

// end notes that the decision about a key has ended. It returns the revision that has
// taken over meanwhile, if any.
func (k *known) end(key eval.Key) (successor *Controller) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.states.end(key)
	return k.revisions.successor
}

// memo returns the memo of a key, which is a new one if it has none.
func (k *known) memo(key eval.Key) *eval.Memo {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.states.at(key)
	if s.memo == nil {
		s.memo = &eval.Memo{}
	}
	return s.memo
}

// isInitial reports whether a key was in the first list.
func (k *known) isInitial(key eval.Key) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.states.of(key).initial
}

// forget drops what is known of a key whose primary is gone, but for what it remembers
// and what waits to be run. Its memo has kept so many bytes. It is called with the lock.
func (k *known) forget(key eval.Key, kept int) {
	k.bytes.add(-kept)
	k.states.forget(key)
	k.writes.set(key, pending{})
	k.echoes.drop(key)
	k.wakes.forget(key)
}

// remove ends the use of what is known: nothing more is kept between evaluations.
func (k *known) remove() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bytes.remove()
	k.echoes.dropAll(func(eval.Key) bool { return true })
}
