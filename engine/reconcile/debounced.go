package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// debounce brings what waits for the key up to what the reconciliation did.
func (r *reconciliation) debounce() {
	r.putOff(r.c.known.intents)
	r.c.known.remeasure()
}

func (r *reconciliation) putOff(q *intents) {
	object := r.object // of the intents; nil is the one that they have
	if r.left != nil {
		object = nil // it stands in
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	r.leave(q)
	q.sweep(r.now)
	for _, d := range r.result.Decision.Debounced {
		i := q.of(d.Key, r.key)
		if q.hold(d.Key, i, object, r.now) || !r.refusePutOff(d, i) {
			r.intend(d, i)
		}
	}
}

// intend brings an intent up to what became of its rule.
func (r *reconciliation) intend(d eval.Debounced, i *intent) {
	counts := r.c.counts
	i.rule, i.window, i.left = d.Rule, d.Window, false
	if d.Wanted {
		i.attempts = 0 // a new wish takes the place of one that failed
	}
	switch {
	case !d.Ran:
		if d.Wanted {
			counts.Debounced.Inc()
			r.result.PutOff = append(r.result.PutOff, d.Rule)
		}
		i.pending, i.due = true, d.Due
	case r.succeeded(d.Rule):
		*i = intent{key: r.key, rule: d.Rule, window: d.Window, last: r.now, object: i.object, weight: i.weight}
	default:
		i.pending, i.due = true, r.now.Add(retryAfter(i.attempts))
		i.attempts++
		counts.Retries.Inc()
		r.result.Retried = append(r.result.Retried, d.Rule)
	}
}

// leave notes what waits and was not spoken of by the decision. A leftover
// that even the object it was for does not ask for is dropped.
func (r *reconciliation) leave(q *intents) {
	spoken := r.result.Decision.Debounced
	for name := range q.ofKey[r.key] {
		i := q.byName[name]
		if !i.pending || slices.ContainsFunc(spoken, func(d eval.Debounced) bool { return d.Key == name }) {
			continue
		}
		switch {
		case r.left == nil:
			i.left = true
		case r.left.debounce == name:
			i.pending = false
			r.c.counts.Dropped.Inc()
		}
	}
}

func retryAfter(attempts int) time.Duration {
	if attempts > 5 {
		return lastRetry
	}
	return min(lastRetry, firstRetry<<attempts)
}

// succeeded reports whether nothing of a rule has failed.
func (r *reconciliation) succeeded(rule int) bool {
	unwritten := func(o apply.Outcome) bool {
		return o.Effect.Rule == rule && (o.Err != nil || o.Skipped || o.Refused != nil)
	}
	return !r.result.Decision.Failed(r.c.Policy.Rules[rule].Name) && !slices.Contains(r.failed.refused, rule) &&
		!slices.ContainsFunc(r.result.Outcomes, unwritten)
}

// Labels computes the labels of a metric for a key. The primary of a key that has used a
// debounce is as it last was if it is gone.
func (c *Controller) Labels(ctx context.Context, key eval.Key, now time.Time, labels []plan.Label) map[string]string {
	in := eval.Input{Policy: c.Policy, Key: key, World: c.group.store.Snapshot(), Now: now, Recall: c.known.memories.recall(key)}
	if c.reads.primary(in.World, key) == nil {
		in.Instead = c.known.intents.object(key)
	}
	return eval.Labels(ctx, in, labels)
}

// Pending counts what waits to be run.
func (c *Controller) Pending() int { return c.known.intents.count() }

// Flush runs everything that waits, once, as the controller is about to stop.
// It returns what each key came to, and how many intents are lost.
func (c *Controller) Flush(ctx context.Context, now time.Time) (results []Flushed, dropped int) {
	for _, key := range c.known.intents.waiting() {
		if ctx.Err() == nil {
			results = append(results, Flushed{Key: key, Result: c.reconcile(ctx, key, now, true)})
		}
	}
	dropped = c.Pending()
	c.counts.Dropped.Add(float64(dropped))
	return results, dropped
}

// Flushed is what a flush did for a key.
type Flushed struct {
	Key    eval.Key
	Result Result
}
