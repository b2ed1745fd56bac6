package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/run/lifecycle"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
)

// runner keeps one policy running, by the newest revision that can.
type runner struct {
	*term
	id string

	// adopting serialises the revisions; cancel ends the attempt under way.
	adopting sync.Mutex
	cancel   context.CancelFunc

	worker *worker
	health *health
	// earlier is the revision before the one in force.
	earlier string
	// before is a runner of the same policy that may still be stopping.
	before  *runner
	stopped chan struct{}
	// ticket is that of the newest revision; stopping says that the runner was told
	// to stop. The term's lock guards both.
	ticket   lifecycle.Ticket
	stopping bool
}

// adopt makes a revision the one that runs, as soon as it can. Until then, the
// one before it goes on. It returns when the revision runs or the context ends.
func (r *runner) adopt(ctx context.Context, ticket lifecycle.Ticket, rev *lifecycle.Revision, looked func()) {
	defer looked()
	defer context.AfterFunc(ctx, looked)() // nobody waits for one that has been given up
	r.adopting.Lock()
	defer r.adopting.Unlock()
	if !r.awaitBefore(ctx) || ctx.Err() != nil { // a newer one was quicker, or the policy is gone
		return
	}
	p, err := r.prepare(ctx, ticket, rev, looked)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.resume(ctx, ticket, rev.Fallback, looked)
		r.refuse(ticket, rev.Plan, err)
		return
	}
	observe.Reloads.WithLabelValues(r.id, "adopted").Inc()
	observe.Reloads.WithLabelValues(r.id, "stopped").Add(0) // an increase needs something before it
	r.Log.Info("the policy runs", observe.LogPolicy, r.id, observe.LogRevision, p.Revision)
	r.policies.Activate(rev)
	r.tell(ticket, lifecycle.Report{Event: lifecycle.Activated, InForce: p.Revision})
}

// prepare makes a revision run. A panic on the way is an error of the revision.
func (r *runner) prepare(ctx context.Context, ticket lifecycle.Ticket, rev *lifecycle.Revision, looked func()) (p *plan.Policy, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.Log.Error("internal error (panic)", observe.LogPolicy, r.id, "fault", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error (panic): %v", v)
		}
	}()
	if p, err = r.fit(ctx, ticket, rev, looked); err == nil {
		err = r.ready(ctx, p, rev.Fallback, looked)
	}
	return p, err
}

// awaitBefore waits until an earlier runner of the policy has ended.
func (r *runner) awaitBefore(ctx context.Context) bool {
	if r.before == nil {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-r.before.stopped:
		r.before = nil
		return true
	}
}

// fit waits for the kinds of a revision and types it by the cluster's schemas.
// The plan is nil when the context has ended.
func (r *runner) fit(ctx context.Context, ticket lifecycle.Ticket, rev *lifecycle.Revision, looked func()) (*plan.Policy, error) {
	if !r.await(ctx, ticket, rev, looked) {
		return nil, ctx.Err()
	}
	return r.typedPlan(ctx, rev)
}

// typedPlan types a revision by the cluster's schemas.
func (r *runner) typedPlan(ctx context.Context, rev *lifecycle.Revision) (*plan.Policy, error) {
	if rev.Typed {
		r.group.Schemas().AddAll(rev.Schemas)
		return rev.Plan, nil
	}
	return r.retype(ctx, rev)
}

// refuse says that a revision cannot run. What ran before it goes on.
func (r *runner) refuse(ticket lifecycle.Ticket, p *plan.Policy, err error) {
	observe.Reloads.WithLabelValues(r.id, "refused").Inc()
	r.Log.Error("the policy is refused", observe.LogPolicy, r.id, "error", err.Error(), observe.LogRevision, p.Revision)
	r.tell(ticket, lifecycle.Report{Event: lifecycle.Failed, InForce: r.current(), Reason: err.Error()})
}

// retype compiles a revision by the cluster's own types.
func (r *runner) retype(ctx context.Context, rev *lifecycle.Revision) (*plan.Policy, error) {
	known, err := r.awaitSchemas(ctx, rev.Plan)
	if err != nil && ctx.Err() == nil {
		r.Log.Warn("the cluster's schemas cannot be read; fields are checked by those at hand", observe.LogPolicy, r.id, "error", err.Error())
	}
	p, problems, err := rev.Unit.Compile(known, r.rego)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("it does not fit the cluster's schemas: %w", document.Join(problems))
	}
	r.group.Schemas().AddAll(known)
	return p, nil
}

// ready opens what the policy reads, and puts it in force. An error refuses it.
func (r *runner) ready(ctx context.Context, p *plan.Policy, fallback *lifecycle.Revision, looked func()) error {
	next := r.feeds.join(p)
	if r.worker == nil {
		r.worker = newWorker(r.term, r.id, r.health, next)
		r.feeds.subscribe(r.worker)
	}
	looked()
	r.looked.Wait() // what all policies read is known then, and watched once
	if !r.feeds.open(ctx, next.Sources()) {
		r.abandon(next)
		return cmp.Or(ctx.Err(), errNotWatched)
	}
	keys := r.group.Replay(ctx, next)
	first := r.worker.current() == next
	if err := r.tryOut(ctx, next, keys, fallback); err != nil {
		r.abandon(next)
		return err
	}
	if first {
		r.begin(keys)
	} else {
		r.swap(next, keys)
	}
	return nil
}

// errNotWatched says that somebody else has ended a watch meanwhile.
var errNotWatched = errors.New("what it reads is no longer watched; edit it again")

// abandon takes back a revision that was not put in force.
func (r *runner) abandon(next *reconcile.Controller) {
	r.feeds.leave(next)
	if revision := next.Policy.Revision; revision != r.worker.current().Policy.Revision && revision != r.earlier {
		observe.Unused(r.id, revision)
	}
	if r.worker.current() == next {
		r.feeds.unsubscribe(r.worker)
		r.worker.queue.ShutDown()
		r.worker = nil
	}
}

// begin starts the first revision.
func (r *runner) begin(keys []eval.Key) {
	w, c := r.worker, r.worker.current()
	r.exports.adopt(r.process, nil, c.Policy)
	c.MarkInitial()
	w.wakeAll(keys)
	observe.Adopted(r.id, c.Policy.Revision, "", "")
	w.start(r.working)
	w.rest = context.AfterFunc(r.watching, w.queue.ShutDown)
}

// current is the revision in force.
func (r *runner) current() string { return r.policies.Get(r.id).Report.InForce }

// tell reports how far a revision has come. A policy that waits or is refused does
// not keep the process from being ready.
func (r *runner) tell(ticket lifecycle.Ticket, report lifecycle.Report) {
	if r.policies.Report(r.id, ticket, report, time.Now()) && r.changed != nil {
		r.changed()
	}
}

// stop ends the policy and leaves its objects alone.
func (r *runner) stop() {
	defer func() {
		r.policies.End(r.id, r.ticket)
		close(r.stopped)
		if r.changed != nil {
			r.changed()
		}
	}()
	r.cancel()
	r.adopting.Lock()
	defer r.adopting.Unlock()
	if !r.awaitBefore(r.working) {
		return
	}
	defer observe.Forget(r.id)
	if r.worker == nil {
		return
	}
	r.worker.drop()
	c := r.worker.current()
	r.feeds.unsubscribe(r.worker)
	r.feeds.leave(c)
	r.exports.adopt(r.process, c.Policy, nil)
	if n := c.Pending(); n > 0 {
		r.Log.Warn("what was debounced is dropped with the policy", observe.LogPolicy, r.id, "count", n)
	}
	r.worker = nil
	observe.Reloads.WithLabelValues(r.id, "stopped").Inc()
	r.Log.Info("the policy no longer runs", observe.LogPolicy, r.id, observe.LogRevision, c.Policy.Revision)
}

// wakeAll makes keys look again.
func (w *worker) wakeAll(keys []eval.Key) {
	for _, key := range keys {
		w.queue.Add(key)
	}
}

// await waits until the cluster serves every kind that the policy reads, and
// allows this process all that the policy does.
func (r *runner) await(ctx context.Context, ticket lifecycle.Ticket, rev *lifecycle.Revision, looked func()) bool {
	reported := ""
	for {
		missing := r.unmet(ctx, rev.Plan)
		if missing == nil {
			observe.Waiting.WithLabelValues(r.id).Set(0)
			return true
		}
		looked()
		resumed := r.resume(ctx, ticket, rev.Fallback, looked)
		if text := missing.Error(); text != reported || resumed {
			r.Log.Warn("the policy waits", observe.LogPolicy, r.id, "reason", text, observe.LogRevision, rev.Plan.Revision)
			r.tell(ticket, lifecycle.Report{Event: lifecycle.Blocked, InForce: r.current(), Reason: text})
			reported = text
		}
		observe.Waiting.WithLabelValues(r.id).Set(1)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(r.PollInterval):
		}
	}
}
