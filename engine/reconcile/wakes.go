package reconcile

import (
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
)

// maxWakes is how many changes are kept of those that woke a key since it was
// last decided about.
const maxWakes = 8

// woken is what has woken a key since it was last decided about.
type woken struct {
	// changes are the first ones, at most maxWakes.
	changes []record.Wake
	// at is when the first one came, if that is traced.
	at time.Time
}

// wakes are those of all keys of a controller. They are safe for concurrent use.
type wakes struct {
	mu sync.Mutex
	of map[eval.Key]*woken
}

func newWakes() *wakes { return &wakes{of: map[eval.Key]*woken{}} }

// note notes a change by which keys are woken, and when it came; zero is not traced.
func (w *wakes) note(keys []eval.Key, wake record.Wake, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		k := w.of[key]
		if k == nil {
			k = &woken{}
			w.of[key] = k
		}
		if len(k.changes) < maxWakes {
			k.changes = append(k.changes, wake)
		}
		if k.at.IsZero() {
			k.at = at
		}
	}
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

// begin drops the changes so far: they are those of the first list, which no key was
// woken by.
func (w *wakes) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.of {
		k.changes = nil
	}
}

// forget drops the changes of a key that is gone.
func (w *wakes) forget(key eval.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.of, key)
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

// noteWakes notes the change by which keys are woken.
func (c *Controller) noteWakes(keys []eval.Key, by change) {
	if len(keys) > 0 {
		c.known.wakes.note(keys, by.wake(), by.at)
	}
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
