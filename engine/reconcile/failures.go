package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// failures are what has failed in a reconciliation so far.
type failures struct {
	// passing may pass by themselves, so that the key is tried again; final do not.
	passing, final []error
	// refused are the rules of which the guard has refused something.
	refused []int
	// held says that the brakes keep something back.
	held bool
}

// decided reports that a decision could not be made because an answer is not known.
// Such a decision has no effects.
func decided(d *eval.Decision) error {
	for _, call := range d.Calls {
		if errors.Is(call.Err, expr.ErrNoAnswer) {
			d.Effects = nil
			return fmt.Errorf("rule %q asks %s: %w", call.Rule, call.Request.Query, call.Err)
		}
	}
	return nil
}

// judge sorts what has failed in the decision, and returns the effects that may happen.
// An error says why there is no decision; it stands for all else.
func (r *reconciliation) judge(err error) []*eval.Effect {
	allowed := r.guarded()
	r.problems()
	if err != nil {
		r.failed.final = []error{err}
	}
	return allowed
}

// guarded drops the effects that may not happen, with all that their items
// would do besides.
func (r *reconciliation) guarded() (allowed []*eval.Effect) {
	effects, bad := r.result.Decision.Effects, map[int]bool{}
	for _, e := range effects {
		if err := r.c.grants.Check(e); err != nil {
			bad[e.Item] = true
			r.failed.refused = append(r.failed.refused, e.Rule)
			r.failed.final = append(r.failed.final, fmt.Errorf("rule %q: %w", e.Rules[0], err))
		}
	}
	for _, e := range effects {
		if !bad[e.Item] {
			allowed = append(allowed, e)
		}
	}
	return allowed
}

// problems takes over the items that failed.
func (r *reconciliation) problems() {
	d := r.result.Decision
	for i := range d.Problems {
		p := &d.Problems[i]
		err := fmt.Errorf("rule %q: %w", p.Rule, p.Err)
		if p.Item != "" {
			err = fmt.Errorf("rule %q, item %s: %w", p.Rule, p.Item, p.Err)
		}
		switch {
		case delayed(r.c.Policy, p.Rule):
			r.result.Reported = append(r.result.Reported, err)
		case p.Transient():
			r.failed.passing = append(r.failed.passing, err)
		default:
			r.failed.final = append(r.failed.final, err)
		}
	}
}

// delayed reports whether a rule has retries of its own.
func delayed(p *plan.Policy, rule string) bool {
	return slices.ContainsFunc(p.Rules, func(r *plan.Rule) bool { return r.Name == rule && r.Debounce != nil })
}

// sumUp says what failed. Only conflicts and refused evictions are quiet; what has
// retries of its own is only reported.
func (r *reconciliation) sumUp() {
	result, counts := &r.result, r.c.counts
	failed, quiet := r.unwritten()
	failed = append(failed, r.failed.passing...)
	if result.Final = errors.Join(r.failed.final...); result.Final != nil {
		counts.Terminal.Inc()
	}
	if len(failed) > 0 {
		counts.Errors.Inc()
		result.Err = errors.Join(failed...)
	} else if quiet != nil {
		result.Err, result.Quiet = quiet, true
	}
}

// unwritten counts the writes, and returns what has failed of them, and what is nothing
// to report: a conflict, or else an eviction that was refused.
func (r *reconciliation) unwritten() (failed []error, quiet error) {
	for _, o := range r.result.Outcomes {
		r.c.counts.Effect(o.Result()).Inc()
		if o.Refused != nil && quiet == nil {
			quiet = errRefused
		}
		if o.Err == nil {
			continue
		}
		err := fmt.Errorf("rule %q: writing %s %s: %w", r.c.Policy.Rules[o.Effect.Rule].Name, o.Effect.Target.Kind, name(o.Effect.Target), o.Err)
		switch {
		case r.c.Policy.Rules[o.Effect.Rule].Debounce != nil:
			r.result.Reported = append(r.result.Reported, err)
		case apply.IsConflict(o.Err):
			quiet = errConflict
		default:
			failed = append(failed, err)
		}
	}
	return failed, quiet
}

var errRefused = errors.New("an eviction was refused for now")

var errConflict = errors.New("an object had changed meanwhile")

func name(id world.ID) string { return eval.Key{Namespace: id.Namespace, Name: id.Name}.String() }
