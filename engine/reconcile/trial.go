package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

const (
	// trialKeys is for how many keys another revision is tried out before it
	// takes over.
	trialKeys = 100
	// trialTime bounds how long that takes, once a few keys are tried.
	trialTime, trialFew = 2 * time.Second, 20
)

// TryOut tries a revision out on the world as it is, without writing, for
// keys spread over all that there are. The error names the first object for
// which it costs too much, fails, or wants to write what it may not, although
// the revision in force does not: no look at the text alone tells.
func TryOut(ctx context.Context, next, now *Controller, keys []eval.Key, at time.Time) error {
	begin := time.Now()
	snapshot := next.group.store.Snapshot()
	n := min(trialKeys, len(keys))
	for i := range n {
		if i >= trialFew && time.Since(begin) > trialTime {
			return nil
		}
		key := keys[i*len(keys)/n]
		one := try(ctx, next, key, snapshot, at, recorded{asked: new(string)})
		if one.error() == nil {
			continue
		}
		before := try(ctx, now, key, snapshot, at, recorded{asked: new(string)})
		if before.error() == nil && one.costly() == nil {
			return fmt.Errorf("it fails for %s %s, the one in force does not: %w", next.Policy.Primary.Source.Kind, key, one.error())
		}
		if p := one.costly(); p != nil && before.costly() == nil {
			return fmt.Errorf("rule %q costs too much for %s: %w", p.Rule, key, p.Err)
		}
	}
	return nil
}

// trial is a decision that is not carried out.
type trial struct {
	c *Controller
	d *eval.Decision
	// asked says that it would have asked what only a request with side effects
	// tells.
	asked bool
}

// try decides without writing, and without what is kept between decisions.
func try(ctx context.Context, c *Controller, key eval.Key, snapshot *world.Snapshot, now time.Time, answers recorded) trial {
	in := c.input(key, now, snapshot, c.reads.primary(snapshot, key), nil)
	in.Answers, in.Shared = answers, nil
	d := eval.Evaluate(ctx, in, nil)
	return trial{c: c, d: d, asked: *answers.asked != ""}
}

// Writes reports whether an evaluation of a key at a time would write, without writing.
func (c *Controller) Writes(ctx context.Context, key eval.Key, at time.Time) bool {
	d := try(ctx, c, key, c.group.store.Snapshot(), at, recorded{asked: new(string)}).d
	return slices.ContainsFunc(d.Effects, func(e *eval.Effect) bool { return e.Verb != eval.VerbEvent })
}

// costly returns the first item that failed because of what it costs, or nil.
func (t trial) costly() *eval.Problem {
	for i := range t.d.Problems {
		if expr.TooCostly(t.d.Problems[i].Err) {
			return &t.d.Problems[i]
		}
	}
	return nil
}

// error returns the first thing that would fail. What follows from a question
// that was not asked is unknown.
func (t trial) error() error {
	for _, p := range t.d.Problems {
		if t.asked && !expr.TooCostly(p.Err) || errors.Is(p.Err, context.Canceled) || errors.Is(p.Err, context.DeadlineExceeded) {
			continue
		}
		if p.Item != "" {
			return fmt.Errorf("rule %q, item %s: %w", p.Rule, p.Item, p.Err)
		}
		return fmt.Errorf("rule %q: %w", p.Rule, p.Err)
	}
	if t.c.Policy.Mode == plan.Shadow {
		return nil // it writes nothing
	}
	for _, e := range t.d.Effects {
		if _, err := t.c.grants.Judge(e); err != nil && !errors.Is(err, guard.ErrLeftAlone) {
			return fmt.Errorf("rule %q: %w", strings.Join(e.Rules, ", "), err)
		}
	}
	return nil
}
