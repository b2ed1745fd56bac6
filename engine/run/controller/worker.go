package controller

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/run/events"
	"github.com/edict-dev/edict/engine/run/informers"
	"github.com/edict-dev/edict/engine/run/metrics"
)

// worker reconciles the keys of one policy by the revision in force.
type worker struct {
	id  string
	log *slog.Logger
	// number is how many keys are reconciled at once.
	number int
	queue  workqueue.TypedRateLimitingInterface[eval.Key]
	order  *order
	// watching ends the work, working the reconciliations under way.
	watching, working context.Context
	background        func(func())

	// controller is the revision in force. When another one replaces it, keys that are
	// under way are finished by the one before, and reconciled again.
	mu         sync.Mutex
	controller *reconcile.Controller
	// rollout divides the keys between it and a new revision; nil is that it has all.
	rollout *reconcile.Rollout
	// started reports that the worker has begun.
	started bool
	metrics *metrics.Policies
	results resultLog
	events  *events.Decisions
	// health is what fails now, permissions stops the writes while one is missing.
	health      *health
	permissions permissions
	// dropping makes the worker skip the keys in the queue.
	dropping atomic.Bool
	// rest ends the wait for the end of the runtime.
	rest func() bool
	wg   sync.WaitGroup
}

// The back-off of a failing key.
const (
	minBackOff = 5 * time.Millisecond
	maxBackOff = 60 * time.Second
)

func (r *Runtime) newWorker(id string, h *health, first *reconcile.Controller) *worker {
	o := &r.options
	w := &worker{
		id: id, log: o.Log, number: o.Workers, watching: r.watching, working: r.working, background: r.wg.Go,
		controller: first, metrics: o.Metrics, results: resultLog{log: o.Log, metrics: o.Metrics}, events: o.Events, health: h,
		order: newOrder(),
	}
	w.queue = newQueue(id, w.order)
	w.permissions = permissions{requirements: o.Requirements, poll: o.Poll, changed: func() { o.Changed(id) }}
	return w
}

func newQueue(id string, o *order) workqueue.TypedRateLimitingInterface[eval.Key] {
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[eval.Key]{Name: id, Queue: o})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[eval.Key]{Name: id, Queue: queue})
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[eval.Key](minBackOff, maxBackOff),
		workqueue.TypedRateLimitingQueueConfig[eval.Key]{Name: id, DelayingQueue: delaying})
}

// start begins to work, until the queue is shut down.
func (w *worker) start() {
	w.started = true
	for range w.number {
		w.wg.Go(func() { w.work(w.working) })
	}
	w.background(func() {
		w.wg.Wait()
		w.results.tell(nil)
	})
	w.rest = context.AfterFunc(w.watching, w.queue.ShutDown)
}

// enqueue adds keys to the work queue that nothing has happened to: those of a wave.
func (w *worker) enqueue(keys []eval.Key) {
	for _, key := range keys {
		w.AddWave(key)
	}
}

var _ informers.Queue = (*worker)(nil)

// Add implements informers.Queue.
func (w *worker) Add(key eval.Key) { w.queue.Add(key) }

// AddWave implements informers.Queue.
func (w *worker) AddWave(key eval.Key) {
	w.order.mark(key)
	w.queue.Add(key)
}

// swap puts another revision in force. It returns the keys to reconcile again, and the
// revision before.
func (w *worker) swap(next *reconcile.Controller, keys []eval.Key) (again []eval.Key, old *reconcile.Controller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old = w.controller
	again = next.Adopt(old, keys)
	w.controller = next
	w.metrics.Replace(old.Policy, next.Policy)
	return again, old
}

// drop ends the work: reconciliations under way are finished, no other starts.
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
			w.process(ctx, key)
		}
		w.queue.Done(key)
	}
}

// process reconciles a key by the revision that decides about it.
func (w *worker) process(ctx context.Context, key eval.Key) {
	c := w.decider(key)
	w.health.waiting.Store(int64(w.queue.Len()))
	observe.QueueDepth.WithLabelValues(w.id).Set(float64(w.health.waiting.Load()))
	if w.health.skips(key) {
		w.queue.Forget(key)
		return
	}
	w.finish(c, key, w.reconcile(ctx, c, key))
	if w.decider(key) != c {
		w.queue.Add(key)
	}
}

// decider returns the revision that decides about a key. The caller must have the key.
func (w *worker) decider(key eval.Key) *reconcile.Controller {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rollout != nil {
		return w.rollout.Take(key)
	}
	return w.controller
}

// current is the revision in force.
func (w *worker) current() *reconcile.Controller {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.controller
}

// reconcile makes a panic an error of the key.
func (w *worker) reconcile(ctx context.Context, c *reconcile.Controller, key eval.Key) (r reconcile.Result) {
	id := c.NewID() // here, so that a panic has it too
	ctx, cancel := context.WithTimeoutCause(record.WithID(ctx, id), reconcileTimeout, errReconcileTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			r = reconcile.Result{ID: id, Err: fmt.Errorf("internal error (panic): %v\n%s", v, debug.Stack())}
		}
	}()
	return c.Reconcile(ctx, key, time.Now())
}

// finish makes a panic of complete an error of the key.
func (w *worker) finish(c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	defer func() {
		if v := recover(); v != nil {
			w.log.Error("internal error (panic)", observe.LogPolicy, w.id, observe.LogReconcile, r.ID.String(), observe.LogKey, key.String(), "fault", fmt.Sprint(v), "stack", string(debug.Stack()))
			w.queue.AddRateLimited(key)
		}
	}()
	w.complete(c, key, r)
}

// reconcileTimeout is how long a key may take, with its evaluation and all its
// calls and writes. It is a last resort: each of them has a limit of its own.
const reconcileTimeout = 2 * time.Minute

var errReconcileTimeout = fmt.Errorf("the reconciliation was ended after %v", reconcileTimeout)

// complete reports a result, and adds the key again if it has to be reconciled later.
func (w *worker) complete(c *reconcile.Controller, key eval.Key, r reconcile.Result) {
	if r.Decision == nil && !r.Next.IsZero() { // it was postponed
		w.queue.AddAfter(key, max(time.Until(r.Next), time.Millisecond))
		return
	}
	w.results.report(w.working, c, key, r)
	w.events.Note(w.working, &r, time.Now())
	w.health.note(w.current(), key, r, time.Now())
	w.checkPermissions(r)
	if !r.Next.IsZero() {
		w.queue.AddAfter(key, max(time.Until(r.Next), time.Millisecond))
	}
	if r.Err != nil {
		w.queue.AddRateLimited(key)
		return
	}
	w.queue.Forget(key)
}
