// Package controller runs policies: each has a controller that puts revisions in force,
// and workers that reconcile the keys of a work queue. A Runtime has all of them while
// this process leads.
package controller

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/run/brakes"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/events"
	"github.com/edict-dev/edict/engine/run/informers"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/run/metrics"
	"github.com/edict-dev/edict/engine/run/requirements"
	"github.com/edict-dev/edict/engine/run/writer"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
)

// Options are what a Runtime needs.
type Options struct {
	Log *slog.Logger
	// Workers is how many keys of one policy are reconciled at once.
	Workers int
	// Poll is the interval between checks of what a waiting policy waits for.
	Poll time.Duration
	// Config and HTTP are those of the informers.
	Config *rest.Config
	HTTP   *http.Client
	Kinds  *discovery.Kinds
	Writer *writer.Writer
	// Requirements are checked before a policy runs.
	Requirements *requirements.Checker
	Metrics      *metrics.Policies
	// Compiler compiles revisions by the types of the cluster.
	Compiler *source.Compiler
	Guard    guard.Guard
	Answers  expr.Answerers
	// Records takes the records of decisions; nil takes none.
	Records *record.Log
	// Brakes are the limits of writes; nil means the default.
	Brakes *brake.Settings
	// WatchSelector selects the primary objects that this installation decides about;
	// HandOver is how long it waits with one whose labels begin to match.
	WatchSelector *selector.Selector
	HandOver      time.Duration
	// Events records Events about decisions; nil records none.
	Events *events.Decisions
	// Tracer traces reconciliations; nil traces none.
	Tracer trace.Tracer
	// Changed is called with the ID of a policy whose state has changed, also from other
	// goroutines.
	Changed func(policy string)
	// End ends the process.
	End func(error)
}

// Runtime runs the controllers of policies while this process leads.
type Runtime struct {
	options   Options
	policies  *lifecycle.Registry
	group     *reconcile.Group
	informers *informers.Set
	queues    *informers.Queues
	// brakes limit what the policies write.
	brakes *brakes.Controller
	// watching ends when no new work is to be started. Work under way goes on until
	// working ends.
	watching, working context.Context
	unwatch, unwork   context.CancelFunc

	// loaded is done when every policy of the start has looked for its kinds once.
	loaded sync.WaitGroup

	mu sync.Mutex
	// controllers are those of all policies, also while they stop.
	controllers map[string]*controller
	wg          sync.WaitGroup
}

// New returns a Runtime without policies. No new work is started once ctx has ended; work in
// progress ends with the context work.
func New(ctx, work context.Context, o Options) *Runtime {
	r := &Runtime{options: o, policies: lifecycle.NewRegistry(), queues: &informers.Queues{}, controllers: map[string]*controller{}}
	r.policies.Illegal = func(err error) { o.Log.Error("the state of a policy is wrong", "error", err.Error()) }
	r.watching, r.unwatch = context.WithCancel(ctx)
	r.working, r.unwork = context.WithCancel(work)
	store := world.NewStore()
	r.group = reconcile.NewGroup(store, o.Writer, schema.NewSet(schema.Builtin()))
	r.group.Answers, r.group.Records, r.group.Tracer = o.Answers, o.Records, o.Tracer
	r.group.SetGuard(o.Guard)
	r.group.WatchSelector, r.group.HandOver = o.WatchSelector, o.HandOver
	r.informers = informers.New(r.watching, r.working, informers.Options{
		Log: o.Log, Kinds: o.Kinds, Config: o.Config, HTTP: o.HTTP, Writer: o.Writer, Group: r.group, Store: store,
		Queues: r.queues, Poll: o.Poll, Count: o.Metrics.Watch, End: o.End,
	})
	r.informers.Start()
	r.brakes = brakes.New(brakes.Options{
		Settings: o.Brakes, Log: o.Log, Wake: r.queues.Enqueue,
		Controllers: r.group.Controllers, Stale: r.informers.Stale, Changed: o.Changed, Manager: o.Writer.Manager,
	})
	r.group.Brakes, r.group.Suspect = r.brakes.Brakes(), r.informers.Stale
	r.group.Delivery = &reconcile.Delivery{Start: func(route func(context.Context)) {
		r.informers.Go(func() { route(r.watching) })
	}, Woken: r.queues.Wake}
	r.brakes.Start(r.watching, r.wg.Go)
	return r
}

// Group returns the controllers of the policies that run.
func (r *Runtime) Group() *reconcile.Group { return r.group }

// Context returns a context that ends when no new work is to be started.
func (r *Runtime) Context() context.Context { return r.watching }

// Go runs a function in the background. Stop waits for it.
func (r *Runtime) Go(do func()) { r.wg.Go(do) }

// Policies returns the state of the policies.
func (r *Runtime) Policies() *lifecycle.Registry { return r.policies }

// Brakes returns what limits the writes of the policies.
func (r *Runtime) Brakes() *brakes.Controller { return r.brakes }

// SetGuard sets what policies may do that run from now on.
func (r *Runtime) SetGuard(g guard.Guard) { r.group.SetGuard(g) }

// WatchOpened stores that a watch works.
func (r *Runtime) WatchOpened(id string) { r.informers.Opened(id) }

// RunAll runs assigned revisions together: what all of them read is known before
// anything is watched.
func (r *Runtime) RunAll(revisions []*lifecycle.Revision) {
	r.loaded.Add(len(revisions))
	for _, rev := range revisions {
		r.run(rev, sync.OnceFunc(r.loaded.Done))
	}
}

// Run puts an assigned revision in force as soon as it can run. An attempt with an
// earlier one ends.
func (r *Runtime) Run(rev *lifecycle.Revision) { r.run(rev, func() {}) }

func (r *Runtime) run(rev *lifecycle.Revision, loaded func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := rev.Plan.ID()
	c := r.controllers[id]
	if c == nil || c.stopping {
		c = r.newController(id, c)
		r.controllers[id] = c
	}
	c.cancel()
	ctx, cancel := context.WithCancel(r.watching)
	a := &attempt{ticket: r.policies.Ticket(id), revision: rev, loaded: loaded}
	c.cancel, c.ticket = cancel, a.ticket
	r.wg.Go(func() { c.run(ctx, a) })
}

func (r *Runtime) newController(id string, before *controller) *controller {
	o := &r.options
	c := &controller{
		id: id, log: o.Log, policies: r.policies, changed: o.Changed, poll: o.Poll,
		requirements: o.Requirements, kinds: o.Kinds, compiler: o.Compiler,
		informers: r.informers, queues: r.queues, group: r.group, metrics: o.Metrics, events: o.Events, loaded: &r.loaded, working: r.working,
		cancel: func() {}, before: before, stopped: make(chan struct{}), health: newHealth(id),
	}
	c.newWorker = func(first *reconcile.Controller) *worker { return r.newWorker(id, c.health, first) }
	return c
}

// Stop stops a policy. What is under way is finished in the background.
func (r *Runtime) Stop(id string) {
	r.policies.Stop(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.controllers[id]
	if c == nil || c.stopping {
		return
	}
	c.stopping = true
	r.wg.Go(func() {
		c.stop()
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.controllers[id] == c {
			delete(r.controllers, id)
		}
	})
}

// Stopped reports whether nothing of some policies is under way any more.
func (r *Runtime) Stopped(ids []string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !slices.ContainsFunc(ids, func(id string) bool { return r.controllers[id] != nil })
}

// controller returns the controller of a policy that was not told to stop, or nil.
func (r *Runtime) controller(id string) *controller {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.controllers[id]; c != nil && !c.stopping {
		return c
	}
	return nil
}

// ShadowReports returns what the policies in Shadow mode would have written, by name.
func (r *Runtime) ShadowReports() (out []*reconcile.ShadowReport) {
	for _, c := range r.group.Controllers() {
		if report := c.ShadowReport(); report != nil {
			out = append(out, report)
		}
	}
	return out
}

// Count returns the number of objects that a policy decides about and, if it is compared with an
// enforced one, the number of those about which the decisions differ.
func (r *Runtime) Count(id string) (objects, disagreements int64, compared bool) {
	for _, c := range r.group.Controllers() {
		if c.Policy.ID() != id {
			continue
		}
		objects = int64(c.Count())
		if report := c.ShadowReport(); report != nil {
			return objects, int64(report.Differing), true
		}
	}
	return objects, 0, false
}

// Unmet returns why a policy that runs would not start again; nil if it would.
func (r *Runtime) Unmet(ctx context.Context, p *plan.Policy) error {
	return r.options.Requirements.Unmet(ctx, p)
}

// Shutdown ends the runtime: it starts no new work, finishes what is under way, and
// then runs what is debounced. An error reports that it took too long.
func (r *Runtime) Shutdown(timeout time.Duration) error {
	r.unwatch()
	deadline := time.AfterFunc(timeout, r.unwork)
	defer deadline.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.wg.Wait()
		r.informers.Wait()
		r.flush()
		r.unwork()
		observe.Rest()
	}()
	select {
	case <-done:
		return nil
	case <-time.After(timeout + time.Second): // what respects its context has ended by then
		return fmt.Errorf("work was still under way %v after the stop", timeout)
	}
}

// flush runs what is debounced: no other process would.
func (r *Runtime) flush() {
	log := resultLog{log: r.options.Log, metrics: r.options.Metrics}
	defer log.tell(nil)
	for _, c := range r.group.Controllers() {
		if c.Policy.Mode == plan.Shadow {
			continue // it writes nothing
		}
		results, dropped := c.Flush(r.working, time.Now())
		for _, f := range results {
			log.report(r.working, c, f.Key, f.Result)
		}
		if dropped > 0 {
			r.options.Metrics.Dropped(c.Policy.ID(), dropped)
			r.options.Log.Error("what was debounced is lost with this process", observe.LogPolicy, c.Policy.ID(), "count", dropped)
		}
	}
}
