package reconcile

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/world"
)

// Group holds the controllers that share a world.
type Group struct {
	// guard has the allowances of policies.
	guard atomic.Pointer[guard.Guard]
	// keeping is how many bytes the memos of all controllers keep.
	keeping atomic.Int64
	// Digests takes Secrets of a snapshot as they are: they have digests in place of
	// their values already.
	Digests bool
	// Records keeps what was decided, and gives it IDs; nil keeps nothing.
	Records *record.Log
	// Answers answers what policies ask builtins that look outside.
	Answers expr.Answerer

	// Tracer traces reconciliations; nil traces none. What it starts must not be kept
	// waiting by an exporter.
	Tracer trace.Tracer

	// Counts returns the metrics of a policy; nil is those of the process.
	Counts func(*plan.Policy) *observe.Counts

	// Brakes bound what policies write; nil bounds nothing. Suspect reports whether
	// what a controller reads may be out of date, so that nothing is to be removed
	// because of it; nil is that it is not.
	Brakes  *brake.Brakes
	Suspect func(*Controller) bool

	// WatchSelector selects the primary objects that this installation decides about;
	// others decide about the rest. An object whose labels begin to match is decided about
	// HandOver later: until then another installation may not have seen that they no longer
	// match its selector. Both must be set before a controller is made.
	WatchSelector *selector.Selector
	HandOver      time.Duration

	// Delivery maps changes to keys beside whoever feeds them; nil does so at
	// once.
	Delivery *Delivery

	// unkept gives IDs while Records is nil.
	unkept  *record.Log
	store   *world.Store
	writer  apply.Writer
	schemas *schema.Set

	controllers controllers
	// feeding makes taking a change into the read model and handing it to the
	// controllers one step: they see changes in one order.
	feeding sync.Mutex
}

// NewGroup makes a group that reads from a store and writes to a writer.
func NewGroup(store *world.Store, writer apply.Writer, schemas *schema.Set) *Group {
	g := &Group{WatchSelector: selector.Everything, store: store, writer: writer, schemas: schemas, unkept: &record.Log{Prefix: record.NewPrefix()}}
	g.SetGuard(guard.Guard{})
	return g
}

// SetGuard sets what the policies may do that are added from now on.
func (g *Group) SetGuard(to guard.Guard) { g.guard.Store(&to) }

// Schemas returns the types by which objects are read.
func (g *Group) Schemas() *schema.Set { return g.schemas }

// Add makes a controller for a policy that is in force at once.
func (g *Group) Add(p *plan.Policy) *Controller {
	c := g.Join(p)
	c.known.revisions.inForce.Store(true)
	c.brake.Adopt(p)
	return c
}

// Join makes a controller for a policy and opens the sources it reads. Objects
// must be fed for them afterwards. It is in force from MarkInitial or Adopt on.
func (g *Group) Join(p *plan.Policy) *Controller {
	counts := g.Counts
	if counts == nil {
		counts = countsOf
	}
	c := g.join(p, counts(p))
	if p.Mode == plan.Enforce {
		c.brake = g.Brakes.Policy(p.ID())
	}
	return c
}

// Visit is Join for a policy that is only tried out: nothing of it is counted.
func (g *Group) Visit(p *plan.Policy) *Controller { return g.join(p, observe.Unseen()) }

func (g *Group) join(p *plan.Policy, counts *observe.Counts) *Controller {
	c := newController(g, p, counts)
	for _, need := range c.reads.needs {
		g.store.Open(need.Source, need.Mask, need.Indexes)
	}
	g.controllers.add(c)
	return c
}

// countsOf returns the metrics of the process for a policy.
func countsOf(p *plan.Policy) *observe.Counts {
	rules := make([]string, len(p.Rules))
	for i, r := range p.Rules {
		rules[i] = r.Name
	}
	counts := observe.Of(p.ID(), p.Revision, rules...)
	if p.Mode == plan.Shadow {
		return counts.Shadow()
	}
	return counts
}

// Controllers returns the controllers, by the names of their policies.
func (g *Group) Controllers() []*Controller { return slices.Clone(g.controllers.all()) }

// Remove ends a controller, and returns the sources that nobody reads any more.
// What else only it needed is dropped.
func (g *Group) Remove(c *Controller) (unused []world.Source) {
	g.controllers.remove(c)
	c.inbox.close()
	c.known.remove()
	for _, source := range c.Sources() {
		need := g.controllers.need(source)
		if need == nil {
			unused = append(unused, source)
			continue
		}
		g.store.Narrow(source, need.Mask, func(name string) bool {
			_, needed := need.Indexes[name]
			return needed
		})
	}
	return unused
}

// AllSources returns every source that some controller reads, each once.
func (g *Group) AllSources() []world.Source { return g.controllers.sources() }

// NewID returns the ID of the next reconciliation.
func (c *Controller) NewID() record.ID { return c.group.newID() }

func (g *Group) newID() record.ID {
	if g.Records != nil {
		return g.Records.NewID()
	}
	return g.unkept.NewID()
}

// identified returns the ID of the reconciliation under way, which is a new one unless
// the context carries it.
func (g *Group) identified(ctx context.Context) (context.Context, record.ID) {
	id := record.IDOf(ctx)
	if id.IsZero() {
		id = g.newID()
		ctx = record.WithID(ctx, id)
	}
	return ctx, id
}
