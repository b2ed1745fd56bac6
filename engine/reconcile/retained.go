package reconcile

import (
	"sync/atomic"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// retention counts the bytes that a controller keeps between evaluations.
type retention struct {
	// keeping is how many bytes the memos have, removed says that the group has let go
	// of the controller. The lock of known guards both.
	keeping int
	removed bool
	// process is how many bytes the memos of all controllers have.
	process *atomic.Int64
	// retained is how many bytes are kept in all.
	retained atomic.Int64
}

// add counts what the memos keep, and returns how much those of all
// controllers do. One that was removed does not count.
func (r *retention) add(bytes int) (all int) {
	r.keeping += bytes
	if r.removed {
		return int(r.process.Load())
	}
	return int(r.process.Add(int64(bytes)))
}

// remove ends the counting among all controllers.
func (r *retention) remove() {
	r.add(-r.keeping)
	r.removed = true
}

// remember lets a key remember values; what is null is forgotten.
func (k *known) remember(key eval.Key, news map[string]value.Value) {
	if len(news) == 0 {
		return
	}
	k.counts.Remembered.Add(float64(k.memories.remember(key, news)))
	k.remeasure()
}

// keep counts what a memo keeps, and lets go of it when there is no more room.
func (k *known) keep(memo *eval.Memo, before int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.bytes.add(memo.Kept() - before)
	if k.bytes.keeping > eval.MaxMemoAll || all > eval.MaxMemoProcess {
		k.bytes.add(-memo.Kept())
		memo.Drop()
	}
	k.measure()
}

// remeasure is measure for who does not have the lock.
func (k *known) remeasure() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.measure()
}

// measure says how many bytes the policy keeps between evaluations. It is called with the
// lock.
func (k *known) measure() {
	sum := int64(k.bytes.keeping + k.memories.total() + k.intents.total() + k.echoes.total())
	k.bytes.retained.Store(sum)
	if r := k.revisions.rollout.Load(); r != nil {
		sum += r.beside(k).bytes.retained.Load()
	}
	k.counts.Retained.Set(float64(sum))
}
