package run

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/edict-dev/edict/engine/live"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/requirements"
)

// term is the time from becoming the leader to losing leadership, in which the
// policies run. The methods of a nil term do nothing: no policy runs.
type term struct {
	process *process
	runtime *controller.Runtime
	// records holds the records of the last decisions.
	records *record.Log
}

// changed has the set of a policy reconciled.
func (p *process) changed(policy string) {
	if p.reconciler != nil {
		p.reconciler.Changed(policy)
	}
}

// decisions returns what answers why the policies decided so; false if none runs in
// this process.
func (t *term) decisions() (live.Controllers, bool) {
	if t == nil {
		return live.Controllers{}, false
	}
	return live.Controllers{Log: t.records, Group: t.runtime.Group(), Guard: *t.process.guard.Load()}, true
}

// newTerm makes a term. No new work is started once ctx has ended; work in progress ends with
// the context work.
func (p *process) newTerm(ctx, work context.Context) *term {
	// The IDs of records begin with a text that no other process has.
	o, t := &p.options, &term{process: p, records: &record.Log{Prefix: uuid.NewString()[:8] + "-", Size: p.options.Decisions}}
	t.runtime = controller.New(ctx, work, controller.Options{
		Log: o.Log, Workers: o.Workers, Poll: o.PollInterval, Config: o.Config, HTTP: p.http, Kinds: p.kinds, Writer: p.writer,
		Requirements: requirements.New(requirements.Options{
			Client: p.client, Kinds: p.kinds, Accounts: p.accounts, Answers: o.Answers, Namespace: o.PolicyNamespace, Log: o.Log,
		}),
		Metrics: p.metrics, Compiler: p.compiler, Guard: *p.guard.Load(), Answers: o.Answers, Records: t.records, Brakes: o.Brakes,
		WatchSelector: o.WatchSelector, HandOver: o.handOver(),
		Events: p.events, Tracer: p.traces.Tracer(), Changed: p.changed, End: func(err error) { p.end(err) },
	})
	return t
}

// start starts the policies.
func (t *term) start() {
	p, o := t.process, &t.process.options
	if o.PolicyNamespace == "" {
		t.startFiles()
		return
	}
	p.term.Store(t)
	p.reconciler.Start(t.runtime)
	t.runtime.Go(func() { p.follow(t.runtime.Context()) })
}

// stop ends the term. An error reports that it took too long.
func (t *term) stop(timeout time.Duration) error {
	t.process.term.Store(nil)
	return t.runtime.Shutdown(timeout)
}

// ready reports whether every policy has seen its first lists; one that waits for a
// kind counts as ready.
func (t *term) ready() bool {
	if t == nil {
		return false
	}
	r := t.process.reconciler
	return (r == nil || r.Ready()) && t.runtime.Policies().Started()
}

// watchOpened stores that a watch works.
func (t *term) watchOpened(id string) {
	if t != nil {
		t.runtime.WatchOpened(id)
	}
}

// controllers returns those of the policies that run; one that is rolled out has two.
func (t *term) controllers() []*reconcile.Controller {
	if t == nil {
		return nil
	}
	return t.runtime.Group().Controllers()
}

// tryOut evaluates an edit of a policy with the present objects.
func (t *term) tryOut(ctx context.Context, p *plan.Policy) error {
	if t == nil {
		return nil
	}
	return t.runtime.TryOut(ctx, p)
}
