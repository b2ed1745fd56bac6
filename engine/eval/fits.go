package eval

import (
	"cmp"
	"fmt"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Limits of what leaves an evaluation, in bytes as value.Deep counts them: a
// name or scalar has 16 beside its text. An object of the largest size that an
// API server keeps has up to about 6 MiB.
const (
	// MaxBody is how large one write may be.
	MaxBody = 8 << 20
	// MaxWritten is how large all writes of one evaluation may be together.
	MaxWritten = 64 << 20
)

// errBody says that a write is too large, errWritten that all of them are.
var (
	errBody    = fmt.Errorf("what is written has more than %d MiB; name smaller parts of objects, or write less", MaxBody>>20)
	errWritten = fmt.Errorf("%w of %d MiB of writes; write less, or let the policy be about smaller objects", expr.ErrBytes, MaxWritten>>20)
)

// bodyFits refuses a body that must not be written out.
func bodyFits(a *plan.Child, body value.Value) error {
	if value.Deep(body) > MaxBody {
		return &expr.Failure{At: a.Pos, Err: errBody}
	}
	return nil
}

// finite refuses numbers that no object can have: those of a division by 0, say.
func finite(v value.Value) error {
	where, number, found := value.Infinite(v)
	if !found {
		return nil
	}
	return fmt.Errorf("%s is %v, which no object can have; test it with math.isFinite, or write string(...)", cmp.Or(where, "the value"), number)
}

// fit refuses writes, from an index on, that are too large, that have numbers which no object
// can have, or that set an owner in another namespace.
func (r *ruleRun) fit(first int) error {
	for _, e := range r.ev.decision.Effects[first:] {
		if err := r.ev.checkOwners(e); err != nil {
			return &expr.Failure{At: r.rule.Pos, Err: err}
		}
		if err := finite(e.Patch); err != nil {
			return &expr.Failure{At: r.rule.Pos, Err: fmt.Errorf("%s: %w", shown(e.Target), err)}
		}
		size := value.Deep(e.Patch)
		if size > MaxBody {
			return fmt.Errorf("%s: %w", shown(e.Target), errBody)
		}
		if r.ev.written += size; r.ev.written > MaxWritten {
			return errWritten
		}
	}
	return nil
}

// checkOwners returns an error if an effect makes the primary object the owner of an object
// in another namespace, or of a cluster-scoped one: the garbage collector would delete that
// object.
func (ev *evaluation) checkOwners(e *Effect) error {
	if ev.object == nil || ev.object.Namespace == "" || e.Target.Namespace() == ev.object.Namespace || e.Verb == VerbEvent {
		return nil
	}
	for _, owner := range items(value.Path(e.Patch, "metadata", "ownerReferences")) {
		if uid := value.StringAt(owner, "uid"); uid != "" && uid == ev.object.UID {
			return fmt.Errorf("%s cannot be owned by %s, which is in another namespace: the garbage collector would delete it. Leave the owner out, and delete the object by a finalizer or as a child", shown(e.Target), shown(ev.object.ID()))
		}
	}
	return nil
}

// over reports whether an error means that nothing more of the evaluation can
// come about: a budget that counts all of it is used up, or nobody wants it.
func (r *ruleRun) over(err error) bool {
	return err != nil && (expr.Spent(err) || r.ev.meter.Parent().Err() != nil)
}

// Limits of what keys remember, in bytes.
const (
	// MaxRemembered is what one key may remember.
	MaxRemembered = 1 << 20
	// MaxRememberedAll is what all keys of a policy may remember together.
	MaxRememberedAll = 32 << 20
	// MaxPutOff is what all that is debounced in a policy may keep, with the objects
	// that it was for.
	MaxPutOff = 64 << 20
	// MaxAnswers is what is kept of calls of builtins that look outside, for all keys of a
	// policy that wait for their own writes. What is more is not kept: it is asked again.
	MaxAnswers = 16 << 20
)

var (
	errRemembered    = fmt.Errorf("the object would remember more than %d bytes; remember less, or a digest (hash.sha256)", MaxRemembered)
	errRememberedAll = fmt.Errorf("the objects of the policy would remember more than %d bytes together; remember less, or forget with null what is not needed", MaxRememberedAll)
)

// RememberedBytes is what a remembered value takes in memory.
func RememberedBytes(name string, v value.Value) int {
	if v == nil || value.IsNull(v) {
		return 0
	}
	return rememberedEntry + len(name) + value.Built(v)
}

const rememberedEntry = 64
