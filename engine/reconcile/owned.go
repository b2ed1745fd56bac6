package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/watch"
)

// Owns reports whether this process decides about a key.
func (c *Controller) Owns(key eval.Key) bool {
	return c.group.Owns == nil || c.group.Owns(c.Policy, key)
}

// InForce reports whether the revision decides: it has begun, and no other has taken over.
func (c *Controller) InForce() bool { return c.known.revisions.inForce.Load() }

// owned returns the keys of a policy that this process decides about.
func (g *Group) owned(p *plan.Policy, keys []eval.Key) []eval.Key {
	if g.Owns == nil {
		return keys
	}
	return slices.DeleteFunc(keys, func(key eval.Key) bool { return !g.Owns(p, key) })
}

// Acquire takes keys over from another process, by the rules of a restart: nothing is
// known of them, and their objects count as those of a first list. It returns the keys to
// decide about. A revision that is not in force yet takes over later.
func (c *Controller) Acquire(ctx context.Context, taken func(eval.Key) bool) []eval.Key {
	if !c.InForce() {
		return nil
	}
	keys := c.reads.router.Keys()
	c.known.setInitial(keys, taken)
	if c.Policy.Primary.Optional { // some keys have no object, only inputs name them
		keys = append(keys, c.reads.named(ctx)...)
	}
	r := c.known.revisions.rollout.Load()
	if r != nil { // the new revision may decide about others
		keys = append(keys, r.next.Keys()...)
	}
	slices.SortFunc(keys, watch.CompareKeys)
	keys = slices.DeleteFunc(slices.Compact(keys), func(key eval.Key) bool { return !taken(key) })
	if r != nil {
		r.acquired(keys)
	}
	return keys
}

// Release forgets what is known of keys that another process decides about from now on.
// They must not be reconciled at the same time.
func (c *Controller) Release(given func(eval.Key) bool) {
	for key, memo := range c.known.memosOf(given) {
		c.forget(key, memo)
	}
	c.known.release(given)
}

// FlushKeys is Flush for some keys, as another process is about to decide about them.
// The context of each is that of around, which says false for keys that are left out.
func (c *Controller) FlushKeys(ctx context.Context, now time.Time, around func(context.Context, eval.Key) (context.Context, bool)) (results []Flushed) {
	for _, key := range c.known.intents.waiting() {
		if inner, ok := around(ctx, key); ok && ctx.Err() == nil {
			results = append(results, Flushed{Key: key, Result: c.reconcile(inner, key, now, true)})
		}
	}
	return results
}
