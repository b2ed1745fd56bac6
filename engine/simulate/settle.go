package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/reconcile"
)

// settling runs what is to be done at one instant.
type settling struct {
	sim *Simulation
	// passes counts the reconciliations, bound is how many there may be.
	passes, bound int
}

// run goes on until no work is left, or none that the order names.
func (s *settling) run(ctx context.Context) {
	for ; len(s.sim.agenda.work.list) > 0 && ctx.Err() == nil && s.sim.ended == ""; s.passes++ {
		next, ok := s.sim.agenda.take()
		if !ok {
			return
		}
		if why := s.endless(); why != "" {
			s.end(next, why)
		} else {
			s.reconcile(ctx, next)
		}
	}
}

// endless says why nothing is to run any more; "" is that it goes on.
func (s *settling) endless() string {
	bounds, keys := s.sim.bounds, s.sim.process.keys
	if s.passes == s.bound {
		s.bound = bounds.passes(keys())
	}
	effects, most := s.sim.done.result.Effects, cmp.Or(s.sim.options.MaxKept, MaxKept)
	switch writes := len(effects); {
	case s.sim.done.kept > most:
		return fmt.Sprintf("there are more than %d MiB of writes, calls and errors: the policies never come to rest, or the time is too long or the world too large", most>>20)
	case s.passes == s.bound:
		return "the policies never come to rest: this key is woken again and again"
	case writes >= bounds.writes(0) && writes >= bounds.writes(keys()):
		return fmt.Sprintf("the policies never come to rest: they have written %d times, the last was the rule %q", writes, effects[writes-1].Rule)
	}
	return ""
}

// end ends a simulation that would go on without an end.
func (s *settling) end(i item, why string) {
	s.sim.done.result.fail(s.sim.clock, i, why)
	s.sim.ended = why
	s.sim.agenda.clear()
}

func (s *settling) reconcile(ctx context.Context, i item) {
	c, now, agenda := s.sim.process.controllers[i.policy], s.sim.clock, s.sim.agenda
	if c == nil {
		return
	}
	agenda.timers.remove(i)
	r := c.Reconcile(ctx, i.key, now)
	if s.sim.options.Evaluated != nil {
		s.sim.options.Evaluated()
	}
	if r.Decision == nil {
		agenda.timers.set(i, r.Next)
		return
	}
	s.sim.done.evaluations++
	s.sim.done.record(now, i, survived(r, &s.sim.server.kill))
	if s.killed(ctx) {
		return
	}
	if why := s.restless(i, r.Outcomes); why != "" {
		s.end(i, why)
		return
	}
	s.sim.done.noteFired(c.Policy, r.Decision)
	if s.sim.options.KeepTraces {
		s.sim.done.result.Traces = append(s.sim.done.result.Traces, r.Record.Render(ctx))
	}
	agenda.later(i, r.Next, now)
	s.advanceStamped(ctx, i, r)
	agenda.backOff(i, r.Err, now)
}

// restless counts an evaluation that wrote, and says why its key never comes to rest; ""
// is that it may.
func (s *settling) restless(i item, outcomes []apply.Outcome) string {
	var wrote []*eval.Effect
	for _, o := range outcomes {
		if o.Written() && !o.Unchanged {
			wrote = append(wrote, o.Effect)
		}
	}
	if len(wrote) == 0 {
		return ""
	}
	if s.sim.written[i]++; s.sim.written[i] < maxWritten {
		return ""
	}
	return fmt.Sprintf("the policy %s never comes to rest about %s: %d evaluations have written, and nothing else has happened; %s%s",
		i.policy, i.key, maxWritten, brake.Describe(wrote), s.others(i, wrote))
}

// advanceStamped moves the clock by a second if the key has written, has nothing to write now,
// and would write again a second later because its policy writes the time. In a cluster no two
// evaluations have the same time, so such a key never settles.
func (s *settling) advanceStamped(ctx context.Context, i item, r reconcile.Result) {
	later := s.sim.clock.Add(time.Second)
	if s.sim.written[i] == 0 || !s.sim.process.stamps[i.policy] || len(r.Outcomes) > 0 || !r.Next.IsZero() && !r.Next.After(later) {
		return
	}
	if s.sim.process.controllers[i.policy].Writes(ctx, i.key, later) {
		s.sim.clock = later
		s.sim.agenda.work.add(i)
	}
}

// others names the rule of another policy that has written the same object last.
func (s *settling) others(i item, wrote []*eval.Effect) string {
	for _, e := range slices.Backward(lastOf(s.sim.done.result.Effects, maxWritten)) {
		if e.Policy != i.policy && slices.ContainsFunc(wrote, func(w *eval.Effect) bool { return targetOf(w.Target) == e.Target }) {
			return fmt.Sprintf(", in turn with the rule %q of the policy %s", e.Rule, e.Policy)
		}
	}
	return ""
}

func lastOf(effects []Effect, n int) []Effect { return effects[max(0, len(effects)-n):] }

// survived returns of a reconciliation what came to pass before the process was
// killed: nobody is left to tell of the rest.
func survived(r reconcile.Result, k *killing) reconcile.Result {
	if k.dead() {
		r.Err, r.Final, r.Reported = nil, nil, nil
	}
	return r
}

// killed ends the process in the middle of a decision, and starts another one.
func (s *settling) killed(ctx context.Context) bool {
	if !s.sim.server.kill.dead() {
		return false
	}
	s.sim.server.kill = killing{}
	s.sim.Restart(ctx)
	return true
}
