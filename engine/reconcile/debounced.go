package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// settle brings the intents up to what a reconciliation did.
func (c *Controller) settle(key eval.Key, object *world.Object, left *leftover, r *Result, now time.Time) {
	if left != nil {
		object = nil // it stands in
	}
	c.debounce(key, object, left, r, now)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.measure()
}

// debounce brings what waits for a key up to a decision, whose primary is object; nil is
// what it was.
func (c *Controller) debounce(key eval.Key, object *world.Object, left *leftover, r *Result, now time.Time) {
	c.intents.mu.Lock()
	defer c.intents.mu.Unlock()
	c.leave(key, left, r.Decision)
	c.intents.sweep(now)
	for _, d := range r.Decision.Debounced {
		i := c.intents.of(d.Key, key)
		if !c.intents.hold(d.Key, i, object, now) && c.refusePutOff(d, i, r) {
			continue
		}
		i.rule, i.window, i.left = d.Rule, d.Window, false
		if d.Wanted {
			i.attempts = 0 // a new wish takes the place of one that failed
		}
		switch {
		case !d.Ran:
			if d.Wanted {
				c.counts.Debounced.Inc()
				r.PutOff = append(r.PutOff, d.Rule)
			}
			i.pending, i.due = true, d.Due
		case c.succeeded(d.Rule, r):
			*i = intent{key: key, rule: d.Rule, window: d.Window, last: now, object: i.object, weight: i.weight}
		default:
			i.pending, i.due = true, now.Add(retryAfter(i.attempts))
			i.attempts++
			c.counts.Retries.Inc()
			r.Retried = append(r.Retried, d.Rule)
		}
	}
}

// leave notes what waits and was not spoken of by the decision. A leftover
// that even the object it was for does not ask for is dropped.
func (c *Controller) leave(key eval.Key, left *leftover, d *eval.Decision) {
	for name := range c.intents.ofKey[key] {
		i := c.intents.byName[name]
		if !i.pending || slices.ContainsFunc(d.Debounced, func(b eval.Debounced) bool { return b.Key == name }) {
			continue
		}
		switch {
		case left == nil:
			i.left = true
		case left.debounce == name:
			i.pending = false
			c.counts.Dropped.Inc()
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
func (c *Controller) succeeded(rule int, r *Result) bool {
	name := c.Policy.Rules[rule].Name
	for _, p := range r.Decision.Problems {
		if p.Rule == name {
			return false
		}
	}
	if slices.Contains(r.refused, rule) {
		return false
	}
	for _, o := range r.Outcomes {
		if o.Effect.Rule == rule && (o.Err != nil || o.Skipped || o.Refused != nil) {
			return false
		}
	}
	return true
}

// delayed reports whether a rule has retries of its own.
func (c *Controller) delayed(rule string) bool {
	for _, r := range c.Policy.Rules {
		if r.Name == rule {
			return r.Debounce != nil
		}
	}
	return false
}

// Labels computes the labels of a metric for a key.
func (c *Controller) Labels(ctx context.Context, key eval.Key, now time.Time, labels []plan.Label) map[string]string {
	return eval.Labels(ctx, eval.Input{
		Policy: c.Policy, Key: key, World: c.group.store.Snapshot(), Now: now, Recall: c.memories.recall(key), Instead: c.absent(key),
	}, labels)
}

// absent is the primary of a key that has used a debounce, as it last was; nil
// while it exists.
func (c *Controller) absent(key eval.Key) *world.Object {
	if c.primary(c.group.store.Snapshot(), key) != nil {
		return nil
	}
	return c.intents.object(key)
}

// Pending counts what waits to be run.
func (c *Controller) Pending() int { return c.intents.count() }

// Flush runs everything that waits, once, as the controller is about to stop.
// It returns what each key came to, and how many intents are lost.
func (c *Controller) Flush(ctx context.Context, now time.Time) (results []Flushed, dropped int) {
	for _, key := range c.intents.waiting() {
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
