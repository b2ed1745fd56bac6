package reconcile

import (
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/world"
)

// maxWakes is how many changes are kept of those that woke a key since it was
// last decided about.
const maxWakes = 8

// woken is what has woken a key since it was last decided about.
type woken struct {
	// changes are the first ones, at most maxWakes.
	changes []record.Wake
	// cause is what led to them, if there are brakes.
	cause brake.Cause
	// at is when the first one came, if that is traced.
	at time.Time
}

// wakes are those of all keys of a controller. They are safe for concurrent use.
type wakes struct {
	mu sync.Mutex
	of map[eval.Key]*woken
}

func newWakes() *wakes { return &wakes{of: map[eval.Key]*woken{}} }

// note notes a change by which keys are woken, what led to it, and when it came; zero
// is not traced.
func (w *wakes) note(keys []eval.Key, wake record.Wake, cause brake.Cause, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		k := w.at(key)
		if len(k.changes) < maxWakes {
			k.changes = append(k.changes, wake)
		}
		k.cause = k.cause.Merge(cause)
		if k.at.IsZero() {
			k.at = at
		}
	}
}

func (w *wakes) at(key eval.Key) *woken {
	k := w.of[key]
	if k == nil {
		k = &woken{}
		w.of[key] = k
	}
	return k
}

// take returns what has woken a key, and begins anew.
func (w *wakes) take(key eval.Key) woken {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.of[key]
	if k == nil {
		return woken{}
	}
	delete(w.of, key)
	return *k
}

// restore notes again what led to the changes of a key that is tried again.
func (w *wakes) restore(key eval.Key, cause brake.Cause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.at(key)
	k.cause = k.cause.Merge(cause)
}

// begin drops the changes so far: they are those of the first list, which no key was
// woken by.
func (w *wakes) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.of {
		k.changes = nil
	}
}

// forget drops the changes of a key that is gone. What led to them holds for what comes
// in its place.
func (w *wakes) forget(key eval.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.of[key]; k != nil && k.cause.Known {
		k.changes, k.at = nil, time.Time{}
	} else {
		delete(w.of, key)
	}
}

// wake is the change as what wakes a key.
func (by *change) wake() record.Wake {
	wake := record.Wake{Reason: record.Changed, Source: by.source, Before: by.old, After: by.now}
	switch {
	case by.old == nil:
		wake.Reason = record.Created
	case by.now == nil:
		wake.Reason = record.Deleted
	}
	return wake
}

// cause returns what led to the change, as far as the brakes know.
func (by *change) cause(brakes *brake.Brakes) brake.Cause {
	of, version := by.old, ""
	if by.now != nil {
		of, version = by.now, by.now.Version().ResourceVersion
	}
	return brakes.CauseOf(world.ID{GVK: by.source.GVK, Namespace: of.Namespace, Name: of.Name}, version)
}

// noteWakes notes the change by which keys are woken.
func (c *Controller) noteWakes(keys []eval.Key, by change) {
	if len(keys) == 0 {
		return
	}
	var cause brake.Cause
	if c.brake != nil {
		cause = by.cause(c.group.Brakes)
	}
	c.known.wakes.note(keys, by.wake(), cause, by.at)
}

// reasons returns why a key is decided about now. What no change has woken was woken by
// time, by an edit or by the start.
func (k *known) reasons(key eval.Key, by woken) []record.Wake {
	if len(by.changes) > 0 {
		return by.changes
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	last := k.states.of(key).last
	switch {
	case last.retries:
		return byRetry
	case last.decided:
		return byDeadline
	case k.revisions.edited:
		return byEdit
	default:
		return byStart
	}
}

// What is woken by no change has one reason; the lists are shared, and are not changed.
var (
	byRetry    = []record.Wake{{Reason: record.Retry}}
	byDeadline = []record.Wake{{Reason: record.Deadline}}
	byEdit     = []record.Wake{{Reason: record.Edit}}
	byStart    = []record.Wake{{Reason: record.Start}}
)
