package eval

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Input is everything a decision depends on.
type Input struct {
	Policy *plan.Policy
	Key    Key
	World  *world.Snapshot
	Now    time.Time
	// Initial says that the key was in the first list of this leadership.
	Initial bool
	// Leaving says that the object no longer matches the policy's selector, but is
	// decided about all the same: by all rules if it is being deleted, else by
	// those that use the name leaving.
	Leaving bool
	// Unwatched is true if another installation decides about the key. Then only pending
	// runs are evaluated.
	Unwatched bool
	// Answers answers what the policy asks builtins that look outside. It is
	// asked while the decision is made: what comes of it depends on the answer.
	Answers expr.Answerer
	// Recall returns what earlier evaluations of the key remembered; nil knows of
	// nothing.
	Recall func(name string) value.Value
	// Remembered returns how many bytes the key, and all keys of the policy, remember,
	// and how many of the former are under a name; nil counts nothing.
	Remembered func(name string) (own, all, named int)
	// Intents returns what waits to be run; nil knows of nothing.
	Intents Intents
	// Apart are rules whose writes are not joined with those of others: they are
	// kept back.
	Apart []string
	// Rejected are writes that the API server has refused because of their content. An item
	// that decides the same write again fails.
	Rejected Rejections
	// Flush runs what waits at once: the controller is about to stop.
	Flush bool
	// Instead is decided about in place of the primary: the primary as it was
	// when something was put off that nothing asks for any more, because it is
	// gone or has changed its debounce key. Only what waits is run.
	Instead *world.Object
	// Shared keeps what is the same for many keys of the policy; nil keeps
	// nothing.
	Shared *Shared
	// Details takes how the decision came about; nil is not asked for.
	Details *Details
	// Judged takes each part of a condition that was evaluated, and whether it held;
	// nil is not asked for. Not every condition is evaluated that keeps its result.
	Judged func(part *cel.Program, holds bool)
}

// Evaluate decides about a key. memo may be nil; given again it saves
// computing what has not changed. It belongs to one policy and key. The decision may be
// that of an evaluation before, so that it must not be changed.
func Evaluate(ctx context.Context, in Input, memo *Memo) *Decision {
	if memo == nil {
		memo = &Memo{}
	}
	if in.Shared == nil {
		in.Shared = &Shared{}
	}
	l := lookings.Get().(*looking)
	l.begin(ctx, in, memo)
	out := l.repeated()
	again := out != nil && !l.computed && l.ev.call == nil && l.views[0] == nil && l.views[1] == nil
	if out == nil {
		l.ev.decision = &Decision{Revision: in.Policy.Revision, Skipped: l.checked.Skipped}
		out = l.ev.run()
	}
	used := l.ev.scratch
	l.ev.scratch, l.scratch = nil, nil
	used.release() // not after a panic: who knows what is in it
	if again {
		*l = looking{}
		lookings.Put(l)
	}
	return out
}

// Plain decides about a key without any memory, index or shortcut.
func Plain(ctx context.Context, in Input) *Decision {
	in.Shared = nil
	return plainly(ctx, in).run()
}

func plainly(ctx context.Context, in Input) *evaluation {
	ev := &evaluation{meter: expr.NewMeter(ctx), decision: &Decision{Revision: in.Policy.Revision}}
	ev.begin(in)
	ev.reader = &plainReader{ev: ev}
	return ev
}

// reader returns the values of inputs and variables. Evaluations with and
// without a memory differ in nothing else.
type reader interface {
	// input returns an input's value, for the state that the overlay leaves.
	input(i int) (value.Value, error)
	// variable returns a variable's value, for the same state.
	variable(i int) (value.Value, error)
	// changed says that the overlay has changed an object.
	changed()
	// recalled records that what is being computed depends on what was
	// remembered under a name.
	recalled(name string, v value.Value)
	// flip records that what is being computed changes at a later time.
	flip(at time.Time)
	// view wraps a map so that lookups in it can be followed.
	view(slot plan.Slot, m *value.Map) value.Value
	// saw records that a name of the policy was read as a whole.
	saw(slot plan.Slot, v value.Value)
	// named records that an action named an object outright.
	named(target int, key string)
	done()
}

// evaluation is one evaluation under way.
type evaluation struct {
	in     Input
	reader reader
	meter  *expr.Meter
	// call is nil until an expression needs it.
	call     value.Value
	object   *world.Object
	overlay  overlay
	decision *Decision
	item     int
	// applications are the objects that are applied.
	applications applications
	remembering  remembering
	coalescer    coalescer
	// emitted counts the effects so far, also those that were joined to others; written
	// is how many bytes they have.
	emitted, written int
	// pendingOnly says that only what waits is run.
	pendingOnly bool
	// found are objects that actions have looked up, and unsettled says that what comes
	// of the evaluation may be different next time although all of it is the same.
	found     []*world.Object
	unsettled bool
	// asked says that an expression has asked for the time, or for what is remembered.
	asked bool
	// failures are the children that have failed so far.
	failures failures
	// passed is a passing error that an expression has met; see certain.
	passed error
	// scratch is nil where nothing is used again.
	scratch *scratch
}

func (ev *evaluation) begin(in Input) {
	ev.in = in
	ev.object = in.World.Table(in.Policy.Primary.Source).Get(in.Key.Namespace, in.Key.Name)
	if ev.object != nil && (in.Unwatched || !in.Leaving && !in.Policy.Primary.Selects(ev.object)) {
		ev.object = nil
	}
	if in.Instead != nil {
		ev.object, ev.pendingOnly = in.Instead, true
	}
}

// callOf returns what expressions hand to calls that depend on the evaluation.
func (ev *evaluation) callOf(now time.Time) value.Value {
	return cel.CallValue(&expr.Call{Now: now, Recall: ev.recall, Flip: func(at time.Time) {
		ev.noteFlip(at)
		ev.reader.flip(at)
	}})
}

// recall returns what was remembered, and notes that it was asked for.
func (ev *evaluation) recall(name string) (v value.Value) {
	if ev.in.Recall != nil {
		v = ev.in.Recall(name)
	}
	ev.reader.recalled(name, v)
	return v
}

func (ev *evaluation) run() *Decision {
	defer ev.meter.Close()
	if ev.object != nil || ev.in.Policy.Primary.Optional && !ev.in.Unwatched {
		ev.rules()
		coalescing{ev}.coalesced()
	}
	explaining{ev}.noteAbout()
	ev.reader.done()
	ev.decision.Cost = ev.meter.Spent()
	return ev.decision
}

// noteFlip keeps the earliest time at which the decision changes by itself.
func (ev *evaluation) noteFlip(at time.Time) {
	if !at.IsZero() {
		ev.noteDeadline(at)
	}
	if !at.IsZero() && (ev.decision.Next.IsZero() || at.Before(ev.decision.Next)) {
		ev.decision.Next = at
	}
}

// objectValue returns the primary as the overlay leaves it, or null.
func (ev *evaluation) objectValue() value.Value {
	if ev.object == nil {
		return value.Null
	}
	return ev.overlay.of(ev.object)
}

// stored returns an object from the first source that has it; nil for none.
func (ev *evaluation) stored(id world.ID) (o *world.Object) {
	in := func(source world.Source) bool {
		if source.GVK == id.GVK() {
			o = ev.in.World.Table(source).Get(id.Namespace(), id.Name())
		}
		return o != nil
	}
	if in(ev.in.Policy.Primary.Source) {
		return o
	}
	for _, input := range ev.in.Policy.Inputs {
		if in(input.Source) {
			return o
		}
	}
	for _, t := range ev.in.Policy.Targets {
		if in(t.Source) {
			return o
		}
	}
	return nil
}

// build evaluates a template of what leaves the evaluation: nothing behind it sees an
// optional. nil is none.
func (ev *evaluation) build(t *cel.Template, f *frame) (value.Value, error) {
	v, err := t.Build(f, ev.meter)
	return value.Written(v), err
}

// fields is build for a mapping, of which the fields that are none are kept.
func (ev *evaluation) fields(t *cel.Template, f *frame) ([]cel.Field, error) {
	fields, err := t.Fields(f, ev.meter)
	for i := range fields {
		fields[i].Value = value.Written(fields[i].Value)
	}
	return fields, err
}

// text evaluates a template that must give a text; nil gives "".
func (ev *evaluation) text(t *cel.Template, f *frame) (string, error) {
	if t == nil {
		return "", nil
	}
	v, err := t.Build(f, ev.meter)
	if err != nil || v == nil {
		return "", err
	}
	s, err := value.Text(v)
	if err != nil {
		return "", &expr.Failure{At: t.Pos(), Err: err}
	}
	return s, nil
}
