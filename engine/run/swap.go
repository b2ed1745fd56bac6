package run

import (
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
)

// swap puts another revision in force at once: decisions under way are finished
// by the old one, all others are taken by the new one.
func (r *runner) swap(next *reconcile.Controller, keys []eval.Key) {
	keys, old := r.worker.swap(next, keys)
	r.feeds.leave(old)
	observe.Adopted(r.id, next.Policy.Revision, old.Policy.Revision, r.earlier)
	observe.Reevaluated.WithLabelValues(r.id).Add(float64(len(keys)))
	r.earlier = old.Policy.Revision
	r.worker.wakeAll(keys)
}

// swap returns the keys to decide about anew, and the revision that ran before.
func (w *worker) swap(next *reconcile.Controller, keys []eval.Key) (again []eval.Key, old *reconcile.Controller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old = w.controller
	again = next.Adopt(old, keys)
	w.controller = next
	w.exports.adopt(w.process, old.Policy, next.Policy)
	return again, old
}
