package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/lifecycle"
)

// prepare makes a revision run, alone or beside the one in force. Dropped reports that
// the rollout of another revision has just ended. A panic on the way is an error of the
// revision.
func (c *controller) prepare(ctx context.Context, a *attempt, dropped bool) (p *plan.Policy, err error) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("internal error (panic)", observe.LogPolicy, c.id, "fault", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error (panic): %v", v)
		}
	}()
	if !c.await(ctx, a) {
		return nil, ctx.Err()
	}
	if p, err = c.typedPlan(ctx, a.revision); err != nil {
		return nil, err
	}
	switch {
	case a.revision.Staged != nil:
		return p, c.stage(ctx, p, a)
	case c.rollout.Load() != nil:
		c.promote()
		return p, nil
	case dropped && c.worker.current().Policy.Revision == p.Revision:
		return p, nil // it has all keys again
	default:
		return p, c.activate(ctx, p, a)
	}
}

// awaitBefore waits until an earlier runner of the policy has ended.
func (c *controller) awaitBefore(ctx context.Context) bool {
	if c.before == nil {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-c.before.stopped:
		c.before = nil
		return true
	}
}

// typedPlan types a revision by the cluster's schemas.
func (c *controller) typedPlan(ctx context.Context, rev *lifecycle.Revision) (*plan.Policy, error) {
	if rev.Typed {
		c.group.Schemas().AddAll(rev.Schemas)
		return rev.Plan, nil
	}
	return c.retype(ctx, rev)
}

// refuse reports that a revision cannot run. The one before it goes on.
func (c *controller) refuse(a *attempt, err error) {
	observe.Reloads.WithLabelValues(c.id, "refused").Inc()
	c.log.Error("the policy is refused", observe.LogPolicy, c.id, "error", err.Error(), observe.LogRevision, a.revision.Plan.Revision)
	c.report(a, lifecycle.Report{Event: lifecycle.Failed, InForce: c.current(), Reason: err.Error()})
}

// retype compiles a revision by the cluster's own types. What it finds takes the place of
// what was found without them; errors are returned.
func (c *controller) retype(ctx context.Context, rev *lifecycle.Revision) (*plan.Policy, error) {
	known, err := c.kinds.AwaitSchemas(ctx, rev.Plan)
	if err != nil && ctx.Err() == nil {
		c.log.Warn("the cluster's schemas cannot be read; fields are checked by those at hand", observe.LogPolicy, c.id, "error", err.Error())
	}
	p, problems, err := c.compiler.Compile(ctx, rev.Unit, known)
	if err != nil {
		return nil, err
	}
	c.policies.Found(c.id, rev.Unit, document.Warnings(problems))
	if p == nil {
		return nil, fmt.Errorf("it does not fit the cluster's schemas: %w", document.Join(problems))
	}
	c.group.Schemas().AddAll(known)
	return p, nil
}

// activate watches what a plan reads, and puts it in force. An error refuses it.
func (c *controller) activate(ctx context.Context, p *plan.Policy, a *attempt) error {
	next := c.informers.Join(p)
	if c.worker == nil {
		c.worker = c.newWorker(next)
		c.queues.Subscribe(c.id, c.worker)
	}
	a.loaded()
	c.loaded.Wait() // what all policies read is known then, and watched once
	if !c.informers.Open(ctx, next.Sources()) {
		c.abandon(next)
		return cmp.Or(ctx.Err(), errNotWatched)
	}
	keys := c.group.Replay(ctx, next)
	first := c.worker.current() == next
	if err := c.tryOut(ctx, next, keys, a.revision.Fallback); err != nil {
		c.abandon(next)
		return err
	}
	if first {
		c.begin(keys, a.quiet)
	} else {
		c.swap(next, keys)
	}
	return nil
}

// errNotWatched reports that a watch was ended meanwhile.
var errNotWatched = errors.New("what it reads is no longer watched; edit it again")
