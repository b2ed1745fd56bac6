package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// failures are what has failed in a reconciliation so far.
type failures struct {
	c *Controller
	// passing may pass by themselves, so that the key is tried again; final do not.
	passing, final []error
	// leftAlone are writes that are not made and are no failure.
	leftAlone []error
	// reported need no other try of the key.
	reported []error
	// refused are the rules of which the guard has refused something.
	refused []int
	// endless is true if an object stays in conflict without a newer state of it.
	endless bool
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

// judge sorts what has failed in a decision, and returns the effects that may happen.
// An error says why there is no decision; it stands for all else.
func (f *failures) judge(d *eval.Decision, err error) []guard.Write {
	allowed := f.guarded(d.Effects)
	f.problems(d)
	if err != nil {
		f.final = []error{err}
	}
	return allowed
}

// guarded drops the effects that may not happen, with all that their items
// would do besides.
func (f *failures) guarded(effects []*eval.Effect) (allowed []guard.Write) {
	bad := map[int]bool{}
	for _, e := range effects {
		write, err := f.c.grants.Judge(e)
		if err == nil {
			allowed = append(allowed, write)
			continue
		}
		bad[e.Item] = true
		if errors.Is(err, guard.ErrLeftAlone) {
			f.leftAlone = append(f.leftAlone, err)
		} else {
			f.refused = append(f.refused, e.Rule)
			f.final = append(f.final, fmt.Errorf("rule %q: %w", e.Rules[0], err))
		}
	}
	return slices.DeleteFunc(allowed, func(w guard.Write) bool { return bad[w.Effect().Item] })
}

// problems takes over the items that failed.
func (f *failures) problems(d *eval.Decision) {
	for i := range d.Problems {
		p := &d.Problems[i]
		err := fmt.Errorf("rule %q: %w", p.Rule, p.Err)
		if p.Item != "" {
			err = fmt.Errorf("rule %q, item %s: %w", p.Rule, p.Item, p.Err)
		}
		switch {
		case delayed(f.c.Policy, p.Rule), p.Remark():
			f.reported = append(f.reported, err)
		case p.Transient():
			f.passing = append(f.passing, err)
		default:
			f.final = append(f.final, err)
		}
	}
}

// delayed reports whether a rule has retries of its own.
func delayed(p *plan.Policy, rule string) bool {
	return slices.ContainsFunc(p.Rules, func(r *plan.Rule) bool { return r.Name == rule && r.Debounce != nil })
}

// sumUp says in the result what failed. Only conflicts and refused evictions are quiet;
// what has retries of its own is only reported.
func (f *failures) sumUp(result *Result) {
	counts := f.c.counts
	failed, quiet := f.unwritten(result.Outcomes)
	failed = append(failed, f.passing...)
	result.Reported = f.reported
	if result.Final = errors.Join(f.final...); result.Final != nil {
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
func (f *failures) unwritten(outcomes []apply.Outcome) (failed []error, quiet error) {
	for _, o := range outcomes {
		f.c.counts.Effect(o.Result()).Inc()
		if o.Refused != nil && quiet == nil {
			quiet = errRefused
		}
		if o.Err == nil {
			continue
		}
		rule := f.c.Policy.Rules[o.Effect.Rule]
		err := fmt.Errorf("rule %q: writing %s %s: %w", rule.Name, o.Effect.Target.Kind(), name(o.Effect.Target), o.Err)
		switch {
		case rule.Debounce != nil:
			f.reported = append(f.reported, err)
		case apply.IsConflict(o.Err) && !f.endless:
			quiet = errConflict
		default:
			failed = append(failed, err)
		}
	}
	return failed, quiet
}

// conflict is a state of an object from which the API server has refused a write as outdated.
type conflict struct {
	state state
	since time.Time
}

// noteConflict notes the first conflict of a decision. It reports whether the key has been in
// conflict about the same resourceVersion for longer than a watch may take to deliver the next
// one: such a conflict does not end by itself.
func (k *known) noteConflict(key eval.Key, outcomes []apply.Outcome, read reading, now time.Time) (endless bool) {
	is := conflict{}
	if at := slices.IndexFunc(outcomes, func(o apply.Outcome) bool { return apply.IsConflict(o.Err) }); at >= 0 {
		version, _ := read.version(outcomes[at].Effect.Target)
		is = conflict{state{outcomes[at].Effect.Target, version.ResourceVersion}, now}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.states[key]
	if s == nil || s.memo == nil {
		return false
	}
	if was := s.conflict; was.state == is.state {
		is.since = was.since
	}
	s.conflict = is
	return is.state != state{} && now.Sub(is.since) > patience
}

var errRefused = errors.New("an eviction was refused for now")

var errConflict = errors.New("an object had changed meanwhile")

func name(id world.ID) string { return eval.Key{Namespace: id.Namespace(), Name: id.Name()}.String() }
