package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
)

// worker reconciles the keys of one policy, whichever revision of it is in
// force.
type worker struct {
	*term
	id    string
	queue workqueue.TypedRateLimitingInterface[eval.Key]
	// controller is the revision in force. Another one takes over at once: keys
	// that are under way are finished by the one before, and looked at again.
	mu         sync.Mutex
	controller *reconcile.Controller
	// health is what fails now; suspecting says that permissions are looked at.
	health     *health
	suspecting atomic.Bool
	// trusted is until when they count as there, in nanoseconds.
	trusted atomic.Int64
	// dropping makes the worker pass over what is still queued.
	dropping atomic.Bool
	// rest ends the wait for the end of the term.
	rest func() bool
	wg   sync.WaitGroup
}

// The back-off of a failing key.
const (
	minBackOff = 5 * time.Millisecond
	maxBackOff = 60 * time.Second
)

func newWorker(t *term, id string, h *health, c *reconcile.Controller) *worker {
	return &worker{term: t, id: id, health: h, controller: c, queue: workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[eval.Key](minBackOff, maxBackOff),
		workqueue.TypedRateLimitingQueueConfig[eval.Key]{Name: id})}
}

// start begins to work, until the queue is shut down.
func (w *worker) start(ctx context.Context) {
	for range w.Workers {
		w.wg.Go(func() { w.work(ctx) })
	}
	w.term.wg.Go(w.wg.Wait)
}

// drop ends the work: what is under way is finished, the rest is not begun.
func (w *worker) drop() {
	w.dropping.Store(true)
	w.rest()
	w.queue.ShutDown()
	w.wg.Wait()
}

func (w *worker) work(ctx context.Context) {
	for {
		key, shutdown := w.queue.Get()
		if shutdown {
			return
		}
		if !w.dropping.Load() {
			w.turns(ctx, key)
		}
		w.queue.Done(key)
	}
}

// turns reconciles a key by the revision in force.
func (w *worker) turns(ctx context.Context, key eval.Key) {
	c := w.current()
	observe.QueueDepth.WithLabelValues(w.id).Set(float64(w.queue.Len()))
	if w.health.pass(key) {
		w.queue.Forget(key)
		return
	}
	w.settled(c, key, w.reconcile(ctx, c, key))
	if w.current() != c {
		w.queue.Add(key)
	}
}

// current is the revision in force.
func (w *worker) current() *reconcile.Controller {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.controller
}

// reconcile turns a panic into a failure of the key.
func (w *worker) reconcile(ctx context.Context, c *reconcile.Controller, key eval.Key) (r reconcile.Result) {
	ctx, cancel := context.WithTimeoutCause(ctx, reconcileTimeout, errReconcileTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			r = reconcile.Result{Err: fmt.Errorf("internal error (panic): %v\n%s", v, debug.Stack())}
		}
	}()
	return c.Reconcile(ctx, key, time.Now())
}

// settled turns a panic on the way of reporting into a failure of the key.
func (w *worker) settled(c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	defer func() {
		if v := recover(); v != nil {
			w.Log.Error("internal error (panic)", observe.LogPolicy, w.id, observe.LogKey, key.String(), "fault", fmt.Sprint(v), "stack", string(debug.Stack()))
			w.queue.AddRateLimited(key)
		}
	}()
	w.settle(c, key, r)
}

// reconcileTimeout is how long a key may take, with its evaluation and all its
// calls and writes. It is a last resort: each of them has a limit of its own.
const reconcileTimeout = 2 * time.Minute

var errReconcileTimeout = fmt.Errorf("the reconciliation was ended after %v", reconcileTimeout)

// settle says when the key is looked at again.
func (w *worker) settle(c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	w.report(c, key, r)
	w.health.note(c, key, r, time.Now())
	w.suspect(r)
	if !r.Next.IsZero() {
		w.queue.AddAfter(key, max(time.Until(r.Next), time.Millisecond))
	}
	if r.Err != nil {
		w.queue.AddRateLimited(key)
		return
	}
	w.queue.Forget(key)
}

// report logs what became of a key.
func (t *term) report(c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	if c.Policy.Mode == plan.Shadow {
		return // it only looks on, and has reports of its own
	}
	t.exports.report(t.working, c, key, r)
	log := t.Log.With(observe.LogPolicy, c.Policy.Name, observe.LogRevision, c.Policy.Revision, observe.LogKey, key.String())
	if r.Decision != nil {
		for _, line := range r.Decision.Log {
			log.Log(context.Background(), levelOf(line.Level), line.Message, "at", line.At.String())
		}
	}
	explain(t.working, log, r.Record)
	for _, o := range r.Outcomes {
		if o.Err == nil && !o.Skipped && !o.Gone {
			log.Info("wrote", observe.LogRule, o.Effect.Rules, "verb", o.Effect.Verb, "kind", o.Effect.Target.Kind, "name", o.Effect.Target.Name, "subresource", o.Effect.Subresource)
		}
	}
	for _, err := range r.Reported {
		if !errors.Is(err, context.Canceled) {
			log.Error("failed, and will be tried again", "error", err.Error())
		}
	}
	if r.Final != nil {
		log.Error("failed, and will not be tried again until something that it read changes", "error", r.Final.Error())
	}
	if r.Err != nil && !r.Quiet && !errors.Is(r.Err, context.Canceled) {
		log.Error("failed, and will be tried again", "error", r.Err.Error())
	}
}
