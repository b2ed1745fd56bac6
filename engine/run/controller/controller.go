package controller

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/events"
	"github.com/edict-dev/edict/engine/run/informers"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/metrics"
	"github.com/edict-dev/edict/engine/run/requirements"
	"github.com/edict-dev/edict/engine/source"
)

// controller keeps one policy running, by the newest revision that can.
type controller struct {
	id           string
	log          *slog.Logger
	policies     *lifecycle.Registry
	changed      func(policy string)
	poll         time.Duration
	requirements *requirements.Checker
	kinds        *discovery.Kinds
	compiler     *source.Compiler
	informers    *informers.Set
	queues       *informers.Queues
	group        *reconcile.Group
	metrics      *metrics.Policies
	events       *events.Decisions
	// loaded is done when every policy of the start has looked for its kinds once.
	loaded  *sync.WaitGroup
	working context.Context
	// newWorker makes a worker whose first revision is given.
	newWorker func(first *reconcile.Controller) *worker

	// running serialises the revisions; cancel ends the attempt under way.
	running sync.Mutex
	cancel  context.CancelFunc

	worker *worker
	health *health
	// rollout is the one under way; nil is none.
	rollout atomic.Pointer[reconcile.Rollout]
	// staged has its steps.
	staged *lifecycle.Staged
	// earlier is the revision before the one in force.
	earlier string
	// before is a controller of the same policy that may still be stopping.
	before  *controller
	stopped chan struct{}
	// ticket is that of the newest revision; stopping reports that the controller was
	// told to stop. The lock of the Runtime guards both.
	ticket   lifecycle.Ticket
	stopping bool
}

// attempt is an attempt to put a revision in force.
type attempt struct {
	ticket   lifecycle.Ticket
	revision *lifecycle.Revision
	// loaded is called when the kinds of the policy were looked for once.
	loaded func()
	// quiet has the worker not begin yet.
	quiet bool
}

// run puts a revision in force, as soon as it can run. Until then, the one before it
// goes on. It returns when the revision is in force or the context ends.
func (c *controller) run(ctx context.Context, a *attempt) {
	defer a.loaded()
	defer context.AfterFunc(ctx, a.loaded)() // an attempt that was cancelled delays no other policy
	c.running.Lock()
	defer c.running.Unlock()
	if !c.awaitBefore(ctx) || ctx.Err() != nil { // a newer one was quicker, or the policy is gone
		return
	}
	defer c.launch()
	dropped := c.dropOther(a.revision)
	p, err := c.prepare(ctx, a, dropped)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		c.resume(ctx, a)
		c.refuse(a, err)
		return
	}
	if a.revision.Staged != nil {
		c.log.Info("a new revision of the policy comes into force in steps", observe.LogPolicy, c.id, observe.LogRevision, p.Revision, "inForce", c.current())
		c.report(a, lifecycle.Report{Event: lifecycle.Begun, InForce: c.current()})
		return
	}
	observe.Reloads.WithLabelValues(c.id, "adopted").Inc()
	observe.Reloads.WithLabelValues(c.id, "stopped").Add(0) // an increase needs something before it
	c.log.Info("the policy runs", observe.LogPolicy, c.id, observe.LogRevision, p.Revision)
	c.report(a, lifecycle.Report{Event: lifecycle.Activated, InForce: p.Revision})
}

// abandon takes back a revision that was not put in force.
func (c *controller) abandon(next *reconcile.Controller) {
	c.informers.Leave(next)
	if revision := next.Policy.Revision; revision != c.worker.current().Policy.Revision && revision != c.earlier {
		observe.Unused(c.id, revision)
	}
	if c.worker.current() == next {
		c.queues.Unsubscribe(c.id, c.worker)
		c.worker.queue.ShutDown()
		c.worker = nil
	}
}

// begin starts the first revision, unless it is to be quiet.
func (c *controller) begin(keys []eval.Key, quiet bool) {
	first := c.worker.current()
	c.metrics.Replace(nil, first.Policy)
	first.MarkInitial()
	c.worker.enqueue(keys)
	observe.Adopted(c.id, first.Policy.Revision, "", "")
	if !quiet {
		c.launch()
	}
}

// launch starts the worker, if there is one that has not begun.
func (c *controller) launch() {
	if c.worker != nil && !c.worker.started {
		c.worker.start()
	}
}

// current is the revision in force.
func (c *controller) current() string { return c.policies.Get(c.id).Report.InForce }

// report reports how far a revision has come. A policy that waits or is refused does
// not keep the process from being ready.
func (c *controller) report(a *attempt, report lifecycle.Report) {
	if c.policies.Report(c.id, a.ticket, report, time.Now()) {
		c.changed(c.id)
	}
}

// fellBack reports that another revision than that of an attempt came into force: a report
// of the attempt that follows it is no news if it says nothing else.
func (c *controller) fellBack(a *attempt, inForce string) {
	if c.policies.FellBack(c.id, a.ticket, inForce, time.Now()) {
		c.changed(c.id)
	}
}

// stop ends the policy and leaves its objects alone.
func (c *controller) stop() {
	defer func() {
		c.policies.End(c.id, c.ticket)
		close(c.stopped)
		c.changed(c.id)
	}()
	c.cancel()
	c.running.Lock()
	defer c.running.Unlock()
	if !c.awaitBefore(c.working) {
		return
	}
	defer observe.Forget(c.id)
	defer c.events.Forget(c.id)
	if c.worker == nil {
		return
	}
	c.worker.drop()
	last := c.worker.current()
	c.queues.Unsubscribe(c.id, c.worker)
	if r := c.rollout.Swap(nil); r != nil {
		c.informers.Leave(r.Next())
	}
	c.informers.Leave(last)
	c.metrics.Replace(last.Policy, nil)
	if n := last.Pending(); n > 0 {
		c.log.Warn("what was debounced is dropped with the policy", observe.LogPolicy, c.id, "count", n)
	}
	c.worker = nil
	observe.Reloads.WithLabelValues(c.id, "stopped").Inc()
	c.log.Info("the policy no longer runs", observe.LogPolicy, c.id, observe.LogRevision, last.Policy.Revision)
}

// await waits until the cluster serves every kind that the policy reads, and
// allows this process all that the policy does.
func (c *controller) await(ctx context.Context, a *attempt) bool {
	reported := ""
	for {
		missing := c.requirements.Unmet(ctx, a.revision.Plan)
		if missing == nil {
			observe.Waiting.WithLabelValues(c.id).Set(0)
			return true
		}
		a.loaded()
		resumed := c.resume(ctx, a)
		if text := missing.Error(); text != reported || resumed {
			c.log.Warn("the policy waits", observe.LogPolicy, c.id, "reason", text, observe.LogRevision, a.revision.Plan.Revision)
			c.report(a, lifecycle.Report{Event: lifecycle.Blocked, InForce: c.current(), Reason: text})
			reported = text
		}
		observe.Waiting.WithLabelValues(c.id).Set(1)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(c.poll):
		}
	}
}

// swap puts another revision in force at once: reconciliations under way are finished
// by the one before, all others are made by the new one.
func (c *controller) swap(next *reconcile.Controller, keys []eval.Key) {
	keys, old := c.worker.swap(next, keys)
	c.adopted(next, old, keys)
}

// adopted records that a revision has replaced another one, and enqueues keys.
func (c *controller) adopted(next, old *reconcile.Controller, keys []eval.Key) {
	c.informers.Leave(old)
	observe.Adopted(c.id, next.Policy.Revision, old.Policy.Revision, c.earlier)
	observe.Reevaluated.WithLabelValues(c.id).Add(float64(len(keys)))
	c.earlier = old.Policy.Revision
	c.worker.enqueue(keys)
}
