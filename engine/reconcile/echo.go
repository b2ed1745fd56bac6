package reconcile

import (
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/world"
)

// echo is what a key needs to answer itself when nothing but its own writes wakes it:
// outside nothing has happened since that it knows of, and asking again would do again
// what the calls do there.
type echo struct {
	// calls are those of the decision, all of them answered.
	calls []eval.Call
	// wrote are the states that its writes led to.
	wrote []state
	// since is when the calls were answered, due when the key is to be decided about by
	// the passing of time; zero is never.
	since, due time.Time
	// look is when the key is looked at again because its writes had not come back;
	// zero is not.
	look  time.Time
	bytes int
}

// state is an object at a version.
type state struct {
	id      world.ID
	version string
}

// late reports whether the answers are too old to be used again, whatever wakes the key.
func (e *echo) late(now time.Time) bool { return now.Sub(e.since) > patience }

// explains reports whether a key was woken by nothing but what it wrote, or to look
// whether that has come back.
func (e *echo) explains(woken []record.Wake, now time.Time) bool {
	switch {
	case e.late(now), !e.due.IsZero() && !now.Before(e.due):
		return false
	case woken[0].Reason == record.Deadline && !e.look.IsZero() && !now.Before(e.look):
		e.look = time.Time{}
		return true
	case len(woken) >= maxWakes: // there may have been more
		return false
	}
	return !slices.ContainsFunc(woken, func(w record.Wake) bool {
		return w.After == nil || !slices.Contains(e.wrote, state{w.After.ID(), w.After.Version().ResourceVersion})
	})
}

// keepEcho keeps the answers of a decision that has written all it wanted to. One that
// was an echo itself, and wrote nothing, leaves the echo only for a look that is still
// to come.
func (r *reconciliation) keepEcho() {
	calls := r.result.Decision.Calls
	if len(calls) == 0 {
		return
	}
	wrote, ok := r.result.wroteAll()
	if !ok {
		return
	}
	e := &echo{calls: calls, wrote: wrote, since: r.now, due: r.result.Next}
	if before := r.evaluation.echo; before != nil {
		e.since, e.look = before.since, before.look
	}
	if len(wrote) == 0 && e.look.IsZero() {
		return
	}
	e.weigh()
	r.c.known.keepEcho(r.key, e, r.now)
}

// keepEcho keeps the echo of a key, unless the key is gone or others decide about it by now.
func (k *known) keepEcho(key eval.Key, e *echo, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.states.of(key).memo != nil && k.revisions.successor == nil && !k.bytes.removed {
		k.echoes.put(key, e, now)
		k.measure()
	}
}

// wroteAll returns the states that the writes of a decision led to, and whether all is
// well: nothing failed, was kept back or had to be done no more.
func (r *Result) wroteAll() (wrote []state, ok bool) {
	bad := func(o apply.Outcome) bool { return !o.Written() }
	unanswered := func(call eval.Call) bool { return call.Err != nil || call.Response == nil }
	if r.Err != nil || r.Final != nil || len(r.Decision.Problems) > 0 || slices.ContainsFunc(r.Outcomes, bad) || slices.ContainsFunc(r.Decision.Calls, unanswered) {
		return nil, false
	}
	wrote = make([]state, 0, len(r.Outcomes))
	for _, o := range r.Outcomes {
		if o.Version.ResourceVersion != "" {
			wrote = append(wrote, state{o.Effect.Target, o.Version.ResourceVersion})
		}
	}
	return wrote, true
}
