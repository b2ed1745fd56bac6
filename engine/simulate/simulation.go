package simulate

import (
	"cmp"
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
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
	// Changed is called with each change of an object: old is nil for a new one, now for one
	// that is gone; nil is not.
	Changed func(id world.ID, old, now Object)
	// From is the world to begin with, in place of Objects and Start; nil is none.
	From *Checkpoint
	// MaxKept is in place of the constant of that name; 0 is the constant.
	MaxKept int
	// Stopped leaves the controllers stopped until Restart.
	Stopped bool
	// Brakes are those of a controller; nil keeps nothing back, and notes which policies
	// would be paused by Limits.
	Brakes *brake.Brakes
	// Limits are the limits of the installation; if nil, the defaults.
	Limits *brake.Settings
}

// Simulation is a world in memory with its controllers. It is used by one
// goroutine.
type Simulation struct {
	options Options
	clock   time.Time
	server  *server
	process *process
	agenda  *agenda
	// bounds end a simulation that never comes to rest. written counts the evaluations of
	// keys that wrote since something else has happened than writes.
	bounds  bounds
	written map[item]int
	done    history
	answers answering
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
	s := &Simulation{options: o, clock: o.Start, process: &process{}, agenda: &agenda{work: newSchedule(), timers: newSchedule(), retries: newSchedule(), failures: map[item]int{}}, bounds: defaultBounds, written: map[item]int{}, done: history{fired: map[string]map[string]int{}}}
	s.server = newServer(o.Schemas, s.Now)
	s.done.result.Start = o.Start
	if o.Records == nil {
		s.options.Records = &record.Log{} // it gives them their IDs
	}
	s.answers.set(o.Answers)
	for _, object := range o.Objects {
		s.server.begin(object)
	}
	if o.From != nil {
		o.From.restore(s)
	}
	s.server.seen = o.Changed
	if o.Stopped {
		return s
	}
	s.Restart(ctx)
	s.process.restore(o.Remembered)
	return s
}

// Restart kills the controllers and starts them anew on the world as it is: what they
// remembered is lost.
func (s *Simulation) Restart(ctx context.Context) {
	s.agenda.clear()
	s.done.pauses = s.pauses()
	p := newProcess(&s.options, s.server, s.agenda)
	p.group.Answers = &s.answers
	if p.group.Brakes == nil {
		p.group.Brakes = brake.New(s.options.virtual(), nil)
	}
	s.process = p
	p.begin(ctx, s.options.Policies, s.server.objects.List())
	s.server.changed = func(id world.ID, old, now Object) { p.feed(ctx, id, old, now) }
}

// Settle runs until no work is left at this instant, or none that the order names. It
// is called after something has happened to the world, or has come due.
func (s *Simulation) Settle(ctx context.Context) {
	clear(s.written)
	s.settle(ctx)
}

func (s *Simulation) settle(ctx context.Context) {
	run := settling{sim: s, bound: s.bounds.passes(0)}
	run.run(ctx)
}

// Advance moves the clock to an instant, stopping at every deadline on the
// way and running what is due there. The instant itself is included.
func (s *Simulation) Advance(ctx context.Context, to time.Time) {
	for ctx.Err() == nil {
		at, ok := s.agenda.next()
		if !ok || at.After(to) {
			break
		}
		if at.After(s.clock) {
			s.clock = at
		}
		s.agenda.due(s.clock)
		s.Settle(ctx)
	}
	if to.After(s.clock) {
		s.clock = to
	}
}

// Ended says why nothing runs any more: the policies never come to rest. It is ""
// otherwise.
func (s *Simulation) Ended() string { return s.ended }

// Now returns the virtual time.
func (s *Simulation) Now() time.Time { return s.clock }

// Apply creates an object, or replaces the whole of it.
func (s *Simulation) Apply(o Object) { s.server.objects.Put(o, somebody) }

// Delete deletes an object.
func (s *Simulation) Delete(id world.ID) {
	_ = s.server.objects.Delete(id, apiserver.Deletion{Propagation: metav1.DeletePropagationBackground}) // what is gone is gone
}

// Fail makes coming writes fail, kills the process later, or says in which order keys
// are decided about. It returns the fault of the writes; nil is that none is to fail.
func (s *Simulation) Fail(f Fault) *Fault {
	if f.Order != nil {
		s.agenda.order = append([]string{}, *f.Order...)
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

// Get returns an object, or nil.
func (s *Simulation) Get(id world.ID) Object { return s.server.objects.Get(id) }

// Evaluations counts the evaluations so far.
func (s *Simulation) Evaluations() int { return s.done.evaluations }

// Group returns the controllers.
func (s *Simulation) Group() *reconcile.Group { return s.process.group }

// Controller returns the controller of a policy; nil when it does not run.
func (s *Simulation) Controller(policy string) *reconcile.Controller {
	return s.process.controllers[policy]
}

// Fired counts, by policy and rule, how often rules fired.
func (s *Simulation) Fired() map[string]map[string]int { return s.done.fired }
