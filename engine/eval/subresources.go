package eval

import (
	"errors"
	"fmt"
	"math"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// scale sets how many replicas an object has; nothing if it has as many.
func (x acting) scale(a *plan.Scale, f *frame) error {
	t, err := writing(x).target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil {
		return err
	}
	n, err := x.replicas(a, f)
	if err != nil {
		return err
	}
	if e := writing(x).write(t, "", nest(a.Field, value.OfInt(n))); e != nil {
		e.Verb, e.Replicas = VerbScale, n
	}
	return nil
}

// replicas evaluates a number of replicas.
func (x acting) replicas(a *plan.Scale, f *frame) (int64, error) {
	v, err := a.Replicas.Eval(f, x.run.ev.meter)
	if err != nil {
		return 0, err
	}
	n, ok := value.Int(value.Unwrap(v))
	if !ok || n < 0 || n > math.MaxInt32 {
		return 0, &expr.Failure{At: a.Replicas.Pos(), Err: fmt.Errorf("replicas is a whole number from 0 to %d, this gives %v", math.MaxInt32, value.Plain(v))}
	}
	return n, nil
}

// eviction evicts a Pod; the rules below see it as one that is going.
func (x acting) eviction(a *plan.Evict, f *frame) error {
	t, err := writing(x).target(&a.Of, f)
	if errors.Is(err, errNoTarget) {
		return nil
	}
	if err != nil || value.Path(t.value, "metadata", "deletionTimestamp") != nil {
		return err
	}
	e := &Effect{Verb: VerbEvict, Target: t.id, Patch: value.Empty, Before: t.value}
	if e.GracePeriod, err = x.gracePeriod(a.GracePeriod, f); err != nil {
		return err
	}
	if e.GracePeriod != nil {
		e.Patch = e.Patch.With("gracePeriodSeconds", value.OfInt(*e.GracePeriod))
	}
	writing(x).emit(e)
	writing(x).going(t)
	return nil
}
