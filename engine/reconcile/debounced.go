package reconcile

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

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
