package run

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/policies"
	"github.com/edict-dev/edict/engine/run/requirements"
	"github.com/edict-dev/edict/engine/run/shards"
)

// term is the time from becoming the leader to losing leadership, in which the
// policies run. The methods of a nil term do nothing: no policy runs.
type term struct {
	process *process
	runtime *controller.Runtime
	// follows says that the policies are those of ConfigMaps; manager runs them.
	follows bool
	manager atomic.Pointer[following]
	// records are those of the last decisions.
	records *record.Log
	// owned is what a replica holds that shares the work with others, and leaseOf names the
	// Lease of a shard; nil is that this process has all of the work.
	owned   *shards.Ownership
	leaseOf func(shard int) string
}

// newRecords returns what keeps the records of a term. Their IDs begin with a text
// that no other process and term has.
func (p *process) newRecords() *record.Log {
	out := &record.Log{Prefix: fmt.Sprintf("%s-%d-", uuid.NewString()[:8], p.terms.Add(1)), Size: p.options.Decisions}
	if p.changes != nil {
		out.Seen = p.changes.Add
	}
	return out
}

// decisions returns what answers why the policies decided so; false if none runs in
// this process.
func (t *term) decisions() (live.Controllers, bool) {
	if t == nil {
		return live.Controllers{}, false
	}
	return live.Controllers{Log: t.records, Group: t.runtime.Group(), Guard: t.process.guard, Elsewhere: t.elsewhere}, true
}

// elsewhere returns the name of the Lease whose holder decides about a key, if that is
// another replica.
func (t *term) elsewhere(policy *plan.Policy, key eval.Key) (lease string, elsewhere bool) {
	if t.owned == nil || t.owned.Has(policy, key) {
		return "", false
	}
	shard, ok := t.owned.Shard(policy, key)
	if !ok { // no replica decides about it now
		return "", false
	}
	return t.leaseOf(shard), true
}

// following runs the policies of ConfigMaps.
type following struct{ follower }

// follower is a policies.Manager, or a policies.Follower where another replica does what
// concerns whole policies.
type follower interface {
	Run(ctx context.Context) error
	Nudge()
	Ready() bool
}

// division is how a replica shares the work with others.
type division struct {
	owned  *shards.Ownership
	leads  func() bool
	others func() []shards.Replica
	// changed is called when the state of a policy has changed; nil is that there are no
	// others.
	changed func()
}

func (d *division) note() {
	if d.changed != nil {
		d.changed()
	}
}

// newTerm makes a term. The zero division is that this process has all of the work.
func (p *process) newTerm(ctx context.Context, d division) *term {
	owned := d.owned
	o, t := &p.options, &term{process: p, records: p.newRecords(), follows: p.options.PolicyNamespace != "", owned: owned}
	settings := *o.Brakes
	settings.Namespace = o.PolicyNamespace
	if owned != nil {
		settings.Share = owned.Share
	}
	t.runtime = controller.New(ctx, controller.Options{
		Log: o.Log, Workers: o.Workers, Poll: o.PollInterval, Config: o.Config, HTTP: p.http, Kinds: p.kinds, Writer: p.writer,
		Requirements: requirements.New(requirements.Options{
			Client: p.client, Kinds: p.kinds, Accounts: o.accounts(), Answers: o.Answers, Namespace: o.PolicyNamespace, Log: o.Log,
		}),
		Metrics: p.metrics, Rego: p.rego, Guard: p.guard, Answers: o.Answers, Records: t.records, Brakes: &settings, BrakeStore: p.brakes, Owned: owned, Leads: d.leads, Others: d.others,
		Events: p.events, Tracer: p.traces.Tracer(), Changed: func() { t.nudge(); d.note() }, End: func(err error) { p.end(err) },
	})
	return t
}

// policyOptions are those of what runs the policies of ConfigMaps.
func (t *term) policyOptions() policies.Options {
	p := t.process
	o := &p.options
	return policies.Options{
		Client: p.client, Namespace: o.PolicyNamespace, Installation: o.Installation, Log: o.Log, Store: p.store, Checker: p.checker(false), Runtime: t.runtime,
		Params: o.Params, Overrides: p.overrides(), Poll: o.PollInterval, Rivals: p.writer.Rivals,
	}
}

// start starts the policies.
func (t *term) start() {
	if !t.follows {
		t.startFiles()
		return
	}
	manager := policies.New(t.policyOptions())
	t.manager.Store(&following{manager})
	t.process.term.Store(t)
	t.runtime.Go(func() { t.follow(t.runtime.Context(), manager) })
}

// follow runs the policies of ConfigMaps until the context ends.
func (t *term) follow(ctx context.Context, f follower) {
	t.manager.Store(&following{f})
	if err := f.Run(ctx); err != nil && ctx.Err() == nil {
		o := &t.process.options
		o.Log.Error("policies cannot be followed", "namespace", o.PolicyNamespace, "error", err.Error())
	}
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
