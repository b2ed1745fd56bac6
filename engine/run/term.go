package run

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/policies"
	"github.com/edict-dev/edict/engine/run/requirements"
)

// term is the time from becoming the leader to losing leadership, in which the
// policies run. The methods of a nil term do nothing: no policy runs.
type term struct {
	process *process
	runtime *controller.Runtime
	// follows says that the policies are those of ConfigMaps; manager runs them.
	follows bool
	manager atomic.Pointer[policies.Manager]
	// records are those of the last decisions.
	records *record.Log
}

// decisions returns what answers why the policies decided so; false if none runs in
// this process.
func (t *term) decisions() (live.Controllers, bool) {
	if t == nil {
		return live.Controllers{}, false
	}
	return live.Controllers{Log: t.records, Group: t.runtime.Group(), Guard: t.process.guard}, true
}

// newTerm makes a term.
func (p *process) newTerm(ctx context.Context) *term {
	// The IDs of records begin with a text that no other process has.
	o, t := &p.options, &term{process: p, records: &record.Log{Prefix: uuid.NewString()[:8] + "-", Size: p.options.Decisions}, follows: p.options.PolicyNamespace != ""}
	settings := *o.Brakes
	settings.Namespace = o.PolicyNamespace
	t.runtime = controller.New(ctx, controller.Options{
		Log: o.Log, Workers: o.Workers, Poll: o.PollInterval, Config: o.Config, HTTP: p.http, Kinds: p.kinds, Writer: p.writer,
		Requirements: requirements.New(requirements.Options{
			Client: p.client, Kinds: p.kinds, Accounts: o.accounts(), Answers: o.Answers, Namespace: o.PolicyNamespace, Log: o.Log,
		}),
		Metrics: p.metrics, Judge: p.judge, Rego: p.rego, Guard: p.guard, Answers: o.Answers, Records: t.records, Brakes: &settings, BrakeStore: p.brakes,
		WatchSelector: o.WatchSelector, HandOver: o.handOver(),
		Events: p.events, Tracer: p.traces.Tracer(), Changed: t.nudge, End: func(err error) { p.end(err) },
	})
	return t
}

// policyOptions are those of what runs the policies of ConfigMaps.
func (t *term) policyOptions() policies.Options {
	p := t.process
	o := &p.options
	return policies.Options{
		Client: p.client, Namespace: o.PolicyNamespace, Installation: o.Installation, Log: o.Log, Store: p.store, Checker: p.checker(false), Runtime: t.runtime,
		Params: o.Params, Poll: o.PollInterval,
	}
}

// start starts the policies.
func (t *term) start() {
	if !t.follows {
		t.startFiles()
		return
	}
	manager := policies.New(t.policyOptions())
	t.manager.Store(manager)
	t.process.term.Store(t)
	t.runtime.Go(func() {
		ctx, o := t.runtime.Context(), &t.process.options
		if err := manager.Run(ctx); err != nil && ctx.Err() == nil {
			o.Log.Error("policies cannot be followed", "namespace", o.PolicyNamespace, "error", err.Error())
		}
	})
}

// startFiles starts the policies of files.
func (t *term) startFiles() {
	t.runtime.StartBrakes()
	var revisions []*lifecycle.Revision
	bundle := t.process.bundle
	for _, u := range bundle.Units {
		p := bundle.Policy(u)
		switch {
		case p == nil:
		case p.Mode == plan.Disabled:
			t.process.options.Log.Info("the policy is disabled", observe.LogPolicy, p.Name)
		default:
			rev := &lifecycle.Revision{Unit: u, Plan: p}
			t.runtime.Policies().Assign(p.ID(), rev, true)
			revisions = append(revisions, rev)
		}
	}
	t.process.term.Store(t)
	t.runtime.RunAll(revisions)
}

// stop ends the term. An error reports that it took too long.
func (t *term) stop(timeout time.Duration) error {
	t.process.term.CompareAndSwap(t, nil)
	return t.runtime.Shutdown(timeout)
}

// ready reports whether every policy has seen its first lists; one that waits for a
// kind counts as ready.
func (t *term) ready() bool {
	if t == nil {
		return false
	}
	now := t.manager.Load()
	return (!t.follows || now != nil && now.Ready()) && t.runtime.Policies().Started()
}

// nudge has the ConfigMaps looked at soon.
func (t *term) nudge() {
	if t == nil {
		return
	}
	if now := t.manager.Load(); now != nil {
		now.Nudge()
	}
}

// nudgeBrakes has the brakes looked at soon.
func (t *term) nudgeBrakes() {
	if t != nil {
		t.runtime.Brakes().Nudge()
	}
}

// watchOpened stores that a watch works.
func (t *term) watchOpened(id string) {
	if t != nil {
		t.runtime.WatchOpened(id)
	}
}

// pending returns how many runs are pending for a policy.
func (t *term) pending(id string) int {
	if t == nil {
		return 0
	}
	return t.runtime.Pending(id)
}

// tryOut evaluates an edit of a policy with the present objects.
func (t *term) tryOut(ctx context.Context, p *plan.Policy) error {
	if t == nil {
		return nil
	}
	return t.runtime.TryOut(ctx, p)
}

// shadowReports returns what the policies in Shadow mode would have written; false if
// no policy runs.
func (t *term) shadowReports() ([]*reconcile.ShadowReport, bool) {
	if t == nil {
		return nil, false
	}
	return t.runtime.ShadowReports(), true
}
