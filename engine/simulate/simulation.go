package simulate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// Options are what a simulation runs.
type Options struct {
	Policies []*plan.Policy
	Schemas  *schema.Set
	Objects  []Object
	// Guard says what of what is protected may be written.
	Guard guard.Guard
	Start time.Time
	// Answers answers what policies ask builtins that look outside; nil answers
	// nothing of use.
	Answers expr.Answerer
	// Remembered is what keys remember at the start.
	Remembered Memory
	// Records takes what is decided; nil keeps nothing.
	Records *record.Log
	// KeepTraces puts the record of every decision into the result.
	KeepTraces bool
	// Evaluated is called after each evaluation; nil is not.
	Evaluated func()
	// From is the world to begin with, in place of Objects and Start; nil is none.
	From *Checkpoint
	// MaxKept is in place of the constant of that name; 0 is the constant.
	MaxKept int
	// Stopped leaves the controllers stopped until Restart.
	Stopped bool
	// Brakes are those of a controller; nil brakes nothing, and ends a simulation
	// that never comes to rest.
	Brakes *brake.Brakes
}

// Simulation is a world in memory with its controllers. It is used by one
// goroutine.
type Simulation struct {
	options Options
	clock   time.Time
	server  *server
	group   *reconcile.Group
	// controllers are those of the group, by policy.
	controllers map[string]*reconcile.Controller
	sources     map[world.Source]labels.Selector
	// work are the keys to reconcile now, timers those that are due later, retries
	// those that failed and are tried again.
	work            *queue
	timers, retries *schedule
	// failures counts those of a key, one after the other.
	failures map[item]int
	// order names the keys to decide about next; nil is as they come.
	order []string
	// bounds end a simulation that never comes to rest.
	bounds bounds
	result Result
	// kept is how many bytes the result and the written objects take, about.
	kept    int
	answers expr.Answerer
	fired   map[string]map[string]int
	// evaluations counts the reconciliations.
	evaluations int
	// ended says why nothing runs any more: the policies never come to rest.
	ended string
}

// item is a key of a policy.
type item struct {
	policy string
	key    eval.Key
}

func compareItems(a, b item) int {
	return cmp.Or(cmp.Compare(a.policy, b.policy), cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Name, b.key.Name))
}

// New sets a world up; nothing runs yet.
func New(ctx context.Context, o Options) *Simulation {
	s := &Simulation{
		options: o, clock: o.Start, timers: newSchedule(), retries: newSchedule(), failures: map[item]int{}, work: newQueue(),
		fired: map[string]map[string]int{}, bounds: defaultBounds,
	}
	s.server = newServer(o.Schemas, func() time.Time { return s.clock })
	s.result.Start = o.Start
	if o.Records == nil {
		s.options.Records = &record.Log{} // it gives them their IDs
	}
	s.answers = o.Answers
	if s.answers == nil {
		s.answers = noAnswers()
	}
	for _, object := range o.Objects {
		s.server.begin(object)
	}
	if o.From != nil {
		s.restore(o.From)
	}
	if o.Stopped {
		return s
	}
	s.boot(ctx)
	for policy, keys := range o.Remembered {
		for key, values := range keys {
			if c := s.controllers[policy]; c != nil {
				c.Restore(key, values)
			}
		}
	}
	return s
}

// boot starts the controllers on the world as it is: what a process does when
// it starts.
func (s *Simulation) boot(ctx context.Context) {
	s.group = reconcile.NewGroup(world.NewStore(), s.server, s.options.Schemas)
	s.group.Counts = func(*plan.Policy) *observe.Counts { return observe.Unseen() }
	s.group.Records = s.options.Records
	s.group.Digests = true
	s.group.Guard = s.options.Guard
	s.group.Answers = s
	s.group.Brakes = s.options.Brakes
	if s.group.Brakes == nil {
		s.group.Brakes = brake.New(brake.Settings{Observe: true, Now: s.Now}, nil)
	}
	s.sources = map[world.Source]labels.Selector{}
	s.forget()
	for _, p := range s.options.Policies {
		if p.Mode == plan.Enforce {
			s.group.Add(p)
		}
	}
	for _, source := range s.group.AllSources() {
		selector, err := labels.Parse(source.Selector)
		if err != nil {
			selector = labels.Nothing()
		}
		s.sources[source] = selector
	}
	for _, object := range s.server.List() {
		s.feed(ctx, apiserver.ID(object), nil, object)
	}
	s.controllers = map[string]*reconcile.Controller{}
	for _, c := range s.group.Controllers() {
		s.controllers[c.Policy.Name] = c
		c.MarkInitial()
		for _, key := range c.Keys() {
			s.work.add(item{c.Policy.Name, key})
		}
	}
	s.server.changed = func(id world.ID, old, now Object) { s.feed(ctx, id, old, now) }
}

// feed tells the controllers of a change, as informers would.
func (s *Simulation) feed(ctx context.Context, id world.ID, old, now Object) {
	for source, selector := range s.sources {
		if !source.May(id) {
			continue
		}
		var woken []reconcile.Wake
		switch {
		case now != nil && selector.Matches(apiserver.Labels(now)):
			woken = s.group.Put(ctx, source, now)
		case old != nil:
			woken = s.group.Delete(ctx, source, id.Namespace, id.Name)
		}
		for _, w := range woken {
			s.work.add(item{w.Controller.Policy.Name, w.Key})
		}
	}
}

// Settle runs until no work is left at this instant, or none that the order names.
func (s *Simulation) Settle(ctx context.Context) {
	bound := s.bounds.passes(0)
	for passes := 0; s.work.len() > 0 && ctx.Err() == nil && s.ended == ""; passes++ {
		next, ok := s.take()
		if !ok {
			return
		}
		if passes == bound {
			bound = s.bounds.passes(s.keys())
		}
		switch writes := len(s.result.Effects); {
		case s.kept > s.maxKept():
			s.end(next, fmt.Sprintf("there are more than %d MiB of writes, calls and errors: the policies never come to rest, or the time is too long or the world too large", s.maxKept()>>20))
		case passes == bound:
			s.end(next, "the policies never come to rest: this key is woken again and again")
		case writes >= s.bounds.writes(0) && writes >= s.bounds.writes(s.keys()):
			s.end(next, fmt.Sprintf("the policies never come to rest: they have written %d times, the last was the rule %q", writes, s.result.Effects[writes-1].Rule))
		default:
			s.reconcile(ctx, next)
		}
	}
}

// end ends a simulation that would go on without an end.
func (s *Simulation) end(i item, why string) {
	s.result.fail(s.clock, i, why)
	s.ended = why
	s.forget()
}

// forget drops all that is to be done.
func (s *Simulation) forget() {
	s.work.clear()
	s.timers.clear()
	s.retries.clear()
	clear(s.failures)
}

func (s *Simulation) reconcile(ctx context.Context, i item) {
	c := s.controllers[i.policy]
	if c == nil {
		return
	}
	s.timers.remove(i)
	s.evaluations++
	r := c.Reconcile(ctx, i.key, s.clock)
	if s.options.Evaluated != nil {
		s.options.Evaluated()
	}
	if r.Decision == nil { // cannot be: this server's writes are seen at once
		s.timers.set(i, r.Next)
		return
	}
	s.kept += s.result.record(s.clock, i, survived(r, &s.server.kill))
	if s.killed(ctx) {
		return
	}
	if r.Runaway != "" {
		s.end(i, r.Runaway)
		return
	}
	s.noteFired(c.Policy, r.Decision)
	if s.options.KeepTraces {
		s.result.Traces = append(s.result.Traces, r.Record.Render(ctx))
	}
	switch {
	case r.Next.IsZero():
	case r.Next.After(s.clock):
		s.timers.set(i, r.Next)
	default:
		s.work.add(i)
	}
	s.backOff(i, r)
}

// The back-off of a failing key, as in the real controller.
const (
	minBackOff = 5 * time.Millisecond
	maxBackOff = 60 * time.Second
)

func (s *Simulation) backOff(i item, r reconcile.Result) {
	if r.Err == nil {
		s.retries.remove(i)
		delete(s.failures, i)
		return
	}
	wait := maxBackOff
	if s.failures[i] < 14 {
		wait = min(maxBackOff, minBackOff<<s.failures[i])
	}
	s.failures[i]++
	s.retries.set(i, s.clock.Add(wait))
}

// next returns the first instant at which something is due, or false.
func (s *Simulation) next() (time.Time, bool) {
	timer, retry := s.timers.first(), s.retries.first()
	if timer.IsZero() || !retry.IsZero() && retry.Before(timer) {
		timer = retry
	}
	return timer, !timer.IsZero()
}

// Advance moves the clock to an instant, stopping at every deadline on the
// way and running what is due there. The instant itself is included.
func (s *Simulation) Advance(ctx context.Context, to time.Time) {
	for ctx.Err() == nil {
		at, ok := s.next()
		if !ok || at.After(to) {
			break
		}
		if at.After(s.clock) {
			s.clock = at
		}
		s.due()
		s.Settle(ctx)
	}
	if to.After(s.clock) {
		s.clock = to
	}
}

// due moves what is due now into the work.
func (s *Simulation) due() {
	for _, list := range []*schedule{s.timers, s.retries} {
		for i, ok := list.take(s.clock); ok; i, ok = list.take(s.clock) {
			s.work.add(i)
		}
	}
}

// Ended says why nothing runs any more: the policies never come to rest. It is ""
// otherwise.
func (s *Simulation) Ended() string { return s.ended }

// Now returns the virtual time.
func (s *Simulation) Now() time.Time { return s.clock }

// Apply creates an object, or replaces the whole of it.
func (s *Simulation) Apply(o Object) { s.server.Put(o, somebody) }

// Delete deletes an object.
func (s *Simulation) Delete(id world.ID) {
	_ = s.server.Server.Delete(id, apiserver.Deletion{Propagation: metav1.DeletePropagationBackground}) // what is gone is gone
}

// Fail makes coming writes fail, kills the process later, or says in which order keys
// are decided about. It returns the fault of the writes; nil is that none is to fail.
func (s *Simulation) Fail(f Fault) *Fault {
	if f.Order != nil {
		s.order = append([]string{}, *f.Order...)
	}
	if f.Crash > 0 {
		s.server.kill = killing{armed: true, left: f.Crash}
	}
	if f.Order != nil || f.Crash > 0 {
		return nil
	}
	s.server.faults = append(s.server.faults, &f)
	return &f
}

// Restart kills the controllers and starts them anew: what they remembered is
// lost.
func (s *Simulation) Restart(ctx context.Context) { s.boot(ctx) }

// Get returns an object, or nil.
func (s *Simulation) Get(id world.ID) Object { return s.server.Get(id) }

// Evaluations counts the evaluations so far.
func (s *Simulation) Evaluations() int { return s.evaluations }

// Group returns the controllers.
func (s *Simulation) Group() *reconcile.Group { return s.group }

// Controller returns the controller of a policy; nil when it does not run.
func (s *Simulation) Controller(policy string) *reconcile.Controller { return s.controllers[policy] }

// Fired counts, by policy and rule, how often rules fired.
func (s *Simulation) Fired() map[string]map[string]int { return s.fired }

func (s *Simulation) noteFired(p *plan.Policy, d *eval.Decision) {
	if s.fired[p.Name] == nil {
		s.fired[p.Name] = map[string]int{}
	}
	for i, r := range p.Rules {
		if d.Fired.Has(i) {
			s.fired[p.Name][r.Name]++
		}
	}
}
