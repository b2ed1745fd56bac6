package record

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Record is a decision with what it depended on and what came of it.
type Record struct {
	At time.Time
	// WokenBy says why the key was evaluated.
	WokenBy []Wake
	// Inputs are what the decision depended on.
	Inputs   Inputs
	Decision *eval.Decision
	// Outcomes are those of the writes.
	Outcomes []apply.Outcome
	// Next is when the key is evaluated again without a change; zero is never.
	Next time.Time
	// Memory is what the key remembers after the decision.
	Memory map[string]value.Value
	// Errors are what failed; some may be nil.
	Errors [2]error
	id     ID
}

// Begin starts the record of an evaluation, which has to be made with the Input
// of its Inputs: what a policy asks its controller is kept. Only one that
// remembers or debounces asks anything.
func Begin(in eval.Input) *Record {
	r := &Record{At: in.Now, Inputs: Inputs{Input: in}}
	if in.Policy.Stateful {
		r.Inputs.capture(in)
	}
	return r
}

// End completes the record: nothing of the controller is held on to.
func (r *Record) End() { r.Inputs.release() }

// ID is that of the reconciliation, as text.
func (r *Record) ID() string { return r.id.String() }

// Identify gives the record the ID of its reconciliation.
func (r *Record) Identify(id ID) { r.id = id }

// Reason says what made a controller evaluate a key.
type Reason string

// The reasons.
const (
	Created Reason = "created"
	Changed Reason = "changed"
	Deleted Reason = "deleted"
	// Deadline is that a time has come, Retry that something failed before.
	Deadline Reason = "deadline"
	Retry    Reason = "retry"
	// Edit is another revision of the policy, Start a controller that starts.
	Edit  Reason = "edit"
	Start Reason = "start"
)

// Wake is one reason to evaluate a key.
type Wake struct {
	Reason Reason
	Source world.Source
	// Before and After are the object that has changed; nil where there is none.
	Before, After *world.Object
}

// Replay evaluates the decision again from what it depended on, and asks no
// builtin: answers are those of the record.
func (r *Record) Replay(ctx context.Context) *eval.Decision {
	d := eval.Evaluate(ctx, r.Inputs.again(r.Decision.Calls), nil)
	for i := range d.Calls[:min(len(d.Calls), len(r.Decision.Calls))] {
		d.Calls[i].AnsweredBefore = r.Decision.Calls[i].AnsweredBefore
	}
	return d
}

// Reads returns the objects that the decision depends on, with the parts of them
// that it does.
func (r *Record) Reads(ctx context.Context) []eval.Read { return r.Again(ctx, "").Reads() }

// Observe evaluates the decision again without any shortcut, so that every condition
// on its way is judged, and returns the details of the evaluation.
func (r *Record) Observe(ctx context.Context, judged func(part *cel.Program, holds bool)) *eval.Details {
	in := r.Inputs.again(r.Decision.Calls)
	in.Details, in.Judged = &eval.Details{}, judged
	eval.Plain(ctx, in)
	return in.Details
}

// existing returns the objects as they were before the decision, without those
// that it makes.
func (r *Record) existing(reads []eval.Read) (out []eval.Read) {
	for _, one := range reads {
		if o := r.Inputs.World.Table(one.Source).Get(one.Object.Namespace, one.Object.Name); o != nil {
			one.Object = o
			out = append(out, one)
		}
	}
	return out
}

// Exists reports whether there was something to decide about: the object of the key,
// children of one that is gone, or a key of a policy that does not need one.
func (r *Record) Exists() bool {
	p, key := r.Inputs.Policy, r.Inputs.Key
	switch {
	case r.Inputs.World.Table(p.Primary.Source).Get(key.Namespace, key.Name) != nil:
		return true
	case p.Primary.PruneOnly:
		return r.Decision != nil && len(r.Decision.Effects)+len(r.Decision.Problems) > 0
	}
	return p.Primary.Optional
}

// HasSelections reports whether the policy chooses among candidates.
func (r *Record) HasSelections() bool { return r.Inputs.Policy.HasSelections }

// Again is a decision that was made once more, for what a record does not keep.
type Again struct {
	record  *Record
	details *eval.Details
}

// Again evaluates the decision again, for what is not kept of it: also for what it
// made of something that has a name.
func (r *Record) Again(ctx context.Context, about string) *Again {
	in := r.Inputs.again(r.Decision.Calls)
	in.Details = &eval.Details{About: about}
	eval.Evaluate(ctx, in, nil)
	return &Again{record: r, details: in.Details}
}

// Reads returns the objects that the decision depends on, with the parts of them
// that it does.
func (a *Again) Reads() []eval.Read { return a.record.existing(a.details.Reads) }
