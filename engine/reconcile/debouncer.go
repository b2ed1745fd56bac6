package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/world"
)

// debouncer brings the intents of a key up to what became of a decision about it.
type debouncer struct {
	c   *Controller
	key eval.Key
	now time.Time
	// object is that of the intents; nil is the one that they have.
	object *world.Object
	// left is what stood in for the primary; nil is nothing.
	left *leftover
	// decision is what was decided, refused are the rules of which the guard has refused
	// something, and outcomes are those of the writes.
	decision *eval.Decision
	refused  []int
	outcomes []apply.Outcome

	// putOff and retried are the rules that wait, and that failed and are tried again.
	putOff, retried []int
	// full says of which rules nothing more can be put off.
	full error
}

// update brings the intents up to the decision and the outcomes.
func (b *debouncer) update() {
	q := b.c.known.intents
	q.mu.Lock()
	defer q.mu.Unlock()
	b.leave(q)
	q.sweep(b.now)
	for _, d := range b.decision.Debounced {
		i := q.of(d.Key, b.key)
		if q.hold(d.Key, i, b.object, b.now) || !b.refuse(d, i) {
			b.intend(d, i)
		}
	}
}

// leave notes what waits and was not spoken of by the decision. A leftover
// that even the object it was for does not ask for is dropped.
func (b *debouncer) leave(q *intents) {
	spoken := b.decision.Debounced
	for name := range q.ofKey[b.key] {
		i := q.byName[name]
		if !i.pending || slices.ContainsFunc(spoken, func(d eval.Debounced) bool { return d.Key == name }) {
			continue
		}
		switch {
		case b.left == nil:
			i.left = true
		case b.left.debounce == name:
			i.pending = false
			b.c.counts.Dropped.Inc()
		}
	}
}

// intend brings an intent up to what became of its rule.
func (b *debouncer) intend(d eval.Debounced, i *intent) {
	counts := b.c.counts
	i.rule, i.window, i.left = d.Rule, d.Window, false
	if d.Wanted {
		i.attempts = 0 // a new wish takes the place of one that failed
	}
	switch {
	case !d.Ran:
		if d.Wanted {
			counts.Debounced.Inc()
			b.putOff = append(b.putOff, d.Rule)
		}
		i.pending, i.due = true, d.Due
	case b.succeeded(d.Rule):
		*i = intent{key: b.key, rule: d.Rule, window: d.Window, last: b.now, object: i.object, weight: i.weight}
	default:
		i.pending, i.due = true, b.now.Add(retryAfter(i.attempts))
		i.attempts++
		counts.Retries.Inc()
		b.retried = append(b.retried, d.Rule)
	}
}

func retryAfter(attempts int) time.Duration {
	if attempts > 5 {
		return lastRetry
	}
	return min(lastRetry, firstRetry<<attempts)
}

// succeeded reports whether nothing of a rule has failed.
func (b *debouncer) succeeded(rule int) bool {
	unwritten := func(o apply.Outcome) bool {
		return o.Effect.Rule == rule && (o.Err != nil || o.Skipped || o.Refused != nil)
	}
	return !b.decision.Failed(b.c.Policy.Rules[rule].Name) && !slices.Contains(b.refused, rule) &&
		!slices.ContainsFunc(b.outcomes, unwritten)
}

// refuse notes that nothing more can be put off for the key, and reports
// whether it keeps nothing of it. What waits already goes on waiting with the object
// that it had; what was run is noted without one.
func (b *debouncer) refuse(d eval.Debounced, i *intent) bool {
	if d.Ran {
		return false
	}
	b.full = errors.Join(b.full, fmt.Errorf("rule %q: %w", b.c.Policy.Rules[d.Rule].Name, errPutOff))
	b.c.counts.Errors.Inc()
	if !i.pending && i.last.IsZero() {
		b.c.known.intents.drop(d.Key, i)
	}
	return !i.pending
}
