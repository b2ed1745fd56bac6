package reconcile

import (
	"slices"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/watch"
)

// Rollout divides the keys of a policy between the revision in force and a new one
// that comes into force in steps. Each key is decided about by one of them; the other
// decides without writing, in the same snapshot and with the same memory, and is
// compared. It is safe for concurrent use with different keys.
type Rollout struct {
	base, next *Controller
	// begun is when the rollout began.
	begun time.Time

	mu    sync.Mutex
	share rollout.Share
	// moved are the keys that the new revision decides about.
	moved map[eval.Key]bool
	// todo are the keys that were not decided about since the share has changed.
	todo map[eval.Key]bool
	// verdicts are the results of the last comparisons.
	verdicts map[eval.Key]verdict
	// winner decides about all keys when the rollout has ended; nil is that it has not.
	winner *Controller
}

// NewRollout lets a new revision decide about a share of the keys of the one in force.
// It returns the keys to decide about: all of them, as each is compared. The new
// revision must not have decided about anything.
func NewRollout(base, next *Controller, share rollout.Share, now time.Time) (*Rollout, []eval.Key) {
	r := &Rollout{base: base, next: next, begun: now, share: share, moved: map[eval.Key]bool{}, todo: map[eval.Key]bool{}, verdicts: map[eval.Key]verdict{}}
	next.known.mu.Lock()
	next.known.revisions.late, next.known.revisions.edited = nil, true
	(&takeover{from: base, to: next}).share()
	next.known.mu.Unlock()
	base.known.revisions.rollout.Store(r)
	next.known.revisions.rollout.Store(r)
	keys := r.keys()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		r.todo[key] = true
	}
	return r, keys
}

// Next returns the new revision.
func (r *Rollout) Next() *Controller { return r.next }

// keys returns the keys of both revisions, in order.
func (r *Rollout) keys() []eval.Key {
	all := append(r.base.Keys(), r.next.Keys()...)
	slices.SortFunc(all, watch.CompareKeys)
	return slices.Compact(all)
}

// Advance changes the share of the new revision, and returns the keys that change
// hands when they are decided about.
func (r *Rollout) Advance(share rollout.Share) (keys []eval.Key) {
	all := r.keys()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.share = share
	for _, key := range all {
		if r.has(key) != r.moved[key] {
			keys = append(keys, key)
			r.todo[key] = true
		}
	}
	return keys
}

// Take returns the revision that decides about a key. If that is another one than
// before, what is known of the key is handed over: the key must not be reconciled at
// the same time.
func (r *Rollout) Take(key eval.Key) *Controller {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.winner != nil {
		return r.winner
	}
	if has := r.has(key); has != r.moved[key] {
		from := r.owner(key)
		r.moved[key] = has
		if !has {
			delete(r.moved, key)
		}
		(&takeover{from: from, to: r.other(from)}).owner(key)
	}
	return r.owner(key)
}

// has reports whether a key is in the share. One whose object is gone stays where it
// is.
func (r *Rollout) has(key eval.Key) bool {
	if !r.share.Selects() {
		return r.share.Has(r.next.Policy.ID(), key.String(), nil)
	}
	object := r.next.reads.primary(r.next.group.store.Snapshot(), key)
	if object == nil {
		return r.moved[key] || r.share.Has(r.next.Policy.ID(), key.String(), nil)
	}
	labels := value.Path(object.Value, "metadata", "labels")
	if labels == nil || value.IsNull(labels) {
		labels = value.Empty
	}
	return r.share.Has(r.next.Policy.ID(), key.String(), labels)
}

func (r *Rollout) owner(key eval.Key) *Controller {
	if r.moved[key] {
		return r.next
	}
	return r.base
}

// other returns the other one of the two revisions.
func (r *Rollout) other(c *Controller) *Controller {
	if c == r.base {
		return r.next
	}
	return r.base
}

// beside returns what the other one of the two revisions knows.
func (r *Rollout) beside(k *known) *known {
	if k == &r.base.known {
		return &r.next.known
	}
	return &r.base.known
}

// Decides reports whether the controller decides about a key: while a new revision is
// rolled out, one of the two does.
func (c *Controller) Decides(key eval.Key) bool {
	r := c.known.revisions.rollout.Load()
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.winner == nil && r.owner(key) == c || r.winner == c
}

// Finish puts the new revision in force for all keys, and returns those to decide
// about again. Reconciliations under way are finished by the revision that began them.
func (r *Rollout) Finish() []eval.Key { return r.end(r.next, r.base) }

// Drop gives all keys back to the revision in force, and returns those to decide about
// again. Pauses of the time since the rollout began end with it.
func (r *Rollout) Drop() []eval.Key {
	keys := r.end(r.base, r.next)
	r.base.brake.EndSince(r.begun, "the rollout of "+r.next.Policy.Revision+" has ended")
	return keys
}

func (r *Rollout) end(winner, loser *Controller) []eval.Key {
	keys := r.keys()
	r.mu.Lock()
	defer r.mu.Unlock()
	again := winner.Adopt(loser, keys)
	r.winner = winner
	winner.known.revisions.rollout.Store(nil)
	loser.known.revisions.rollout.Store(nil)
	return again
}
