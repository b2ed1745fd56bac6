package reconcile

import (
	"errors"
	"fmt"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/world"
)

// Result is what became of a key.
type Result struct {
	// ID is that of the reconciliation; zero when nothing was decided.
	ID record.ID
	// Decision is nil when nothing was decided: what the key wrote last is not
	// in the read model yet.
	Decision *eval.Decision
	Outcomes []apply.Outcome
	// Record is what the decision depended on, and what came of it.
	Record *record.Record
	// Next is when the key is due by the passing of time; zero is never.
	Next time.Time
	// Err says that the key must be tried again with back-off: a write or a call
	// failed.
	Err error
	// Final is what failed and would fail again until something that was read
	// changes, which wakes the key: an expression, a limit, the guard.
	Final error
	// Quiet says that Err is nothing to report: an object had moved on.
	Quiet bool
	// Reported are failures that need no other try of the key: what is debounced
	// tries again by itself.
	Reported []error
	final    []error
	// PutOff and Retried are the rules that were debounced, and that failed and
	// will be tried again by themselves.
	PutOff, Retried []int
	failures        []error
	// Runaway says what never comes to rest, where that ends the run; "" is
	// nothing.
	Runaway string
	// held says that the brakes keep something back.
	held bool
	// traced is the trace under way; nil is none.
	traced *traced
	// refused are the rules of which the guard has refused something.
	refused []int
}

// finish sums up what failed. Only conflicts and refused evictions are quiet; what has retries of
// its own is only reported.
func (r *Result) finish(c *Controller) {
	conflict, refused := false, false
	var failures []error
	for _, o := range r.Outcomes {
		c.counts.Effect(o.Result()).Inc()
		refused = refused || o.Refused != nil
		if o.Err == nil {
			continue
		}
		err := fmt.Errorf("writing %s %s: %w", o.Effect.Target.Kind, name(o.Effect.Target), o.Err)
		switch {
		case c.Policy.Rules[o.Effect.Rule].Debounce != nil:
			r.Reported = append(r.Reported, err)
		case apply.IsConflict(o.Err):
			conflict = true
		default:
			failures = append(failures, err)
		}
	}
	failures = append(failures, r.failures...)
	if r.Final = errors.Join(r.final...); r.Final != nil {
		c.counts.Terminal.Inc()
	}
	if len(failures) > 0 {
		c.counts.Errors.Inc()
		r.Err = errors.Join(failures...)
	} else if conflict {
		r.Err, r.Quiet = errConflict, true
	} else if refused {
		r.Err, r.Quiet = errRefused, true
	}
}

var errRefused = errors.New("an eviction was refused for now")

var errConflict = errors.New("an object had changed meanwhile")

func name(id world.ID) string { return eval.Key{Namespace: id.Namespace, Name: id.Name}.String() }

// problems takes over the items that failed.
func (r *Result) problems(c *Controller, d *eval.Decision) {
	for i := range d.Problems {
		p := &d.Problems[i]
		err := fmt.Errorf("rule %q: %w", p.Rule, p.Err)
		if p.Item != "" {
			err = fmt.Errorf("rule %q, item %s: %w", p.Rule, p.Item, p.Err)
		}
		switch {
		case c.delayed(p.Rule):
			r.Reported = append(r.Reported, err)
		case p.Transient():
			r.failures = append(r.failures, err)
		default:
			r.final = append(r.final, err)
		}
	}
}
