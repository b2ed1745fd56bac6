package reconcile

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/watch"
)

// revisions is what a controller knows of the other revisions of its policy.
type revisions struct {
	// inForce says that the controller decides: that its sources are known, and that no
	// other revision has taken over.
	inForce atomic.Bool
	// rollout divides the keys between this revision and another; nil is that this one
	// has all.
	rollout atomic.Pointer[Rollout]

	// The lock of known guards the fields below. What told points to is that of another
	// revision from takeover.share on, before which nothing is decided.

	// told are the events that were emitted.
	told *told
	// successor is the revision that has taken over.
	successor *Controller
	// late are the keys woken between Replay and Adopt.
	late map[eval.Key]bool
	// edited says that the controller has taken over from another revision.
	edited bool
}

// withLate adds the keys that were woken since Replay: the other controller may
// have decided about them already.
func (r *revisions) withLate(keys []eval.Key) []eval.Key {
	for _, key := range keys {
		delete(r.late, key)
	}
	late := slices.SortedFunc(maps.Keys(r.late), watch.CompareKeys)
	r.late = nil
	return slices.Concat(keys, late)
}

// replay begins to note the keys that are woken.
func (k *known) replay() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revisions.late = map[eval.Key]bool{}
}

// woken notes the keys that are woken while another revision is in force.
func (k *known) woken(keys []eval.Key) {
	if len(keys) == 0 || k.revisions.inForce.Load() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range keys {
		if k.revisions.late != nil {
			k.revisions.late[key] = true
		}
	}
}

// next returns the revision that has taken over; nil is none.
func (k *known) next() *Controller {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.revisions.successor
}

const maxEvents = 4096

// told is the events that a policy has emitted, by whichever revision.
type told struct {
	mu     sync.Mutex
	events map[apply.Event]bool
}

func newTold() *told { return &told{events: map[apply.Event]bool{}} }

// seen reports whether an event was emitted before.
func (t *told) seen(e apply.Event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.events[e] {
		return true
	}
	if len(t.events) >= maxEvents {
		clear(t.events)
	}
	t.events[e] = true
	return false
}
