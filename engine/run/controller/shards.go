package controller

import (
	"context"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/shards"
)

// Acquire begins to reconcile the keys of a shard, all of which are queued: as a wave, so
// that what happens to the keys that were held before does not wait for them. Its Lease
// must be held.
func (r *Runtime) Acquire(shard int) {
	owned := r.options.Owned
	r.takeOver(func() { owned.Open(shard) })
	for _, c := range r.group.Controllers() {
		r.acquire(c, func(key eval.Key) bool {
			of, ok := owned.Shard(c.Policy, key)
			return ok && of == shard
		})
	}
	r.tookOver()
}

func (r *Runtime) acquire(c *reconcile.Controller, taken func(eval.Key) bool) {
	r.queues.EnqueueWave(c.Policy.ID(), c.Acquire(r.watching, taken))
}

// Release ends the reconciling of the keys of a shard: evaluations under way are finished,
// and what is debounced is run, until the context ends. Then nothing is known of the keys,
// and nothing is written about them. The Lease may be released after it.
func (r *Runtime) Release(ctx context.Context, shard int) error {
	err := r.options.Owned.Drain(ctx, shard)
	if err == nil {
		r.flushShard(ctx, shard)
	}
	r.options.Owned.Close(shard)
	r.noteUndivided()
	r.dropUnowned()
	return err
}

// flushShard runs what is debounced for the keys of a shard.
func (r *Runtime) flushShard(ctx context.Context, shard int) {
	log := resultLog{log: r.options.Log, metrics: r.options.Metrics}
	for _, c := range r.group.Controllers() {
		if c.Policy.Mode == plan.Shadow {
			continue // it writes nothing
		}
		results := c.FlushKeys(ctx, time.Now(), func(ctx context.Context, key eval.Key) (context.Context, bool) {
			claim, ok := r.options.Owned.Last(shard, c.Policy, key)
			return claim.With(ctx), ok
		})
		for _, f := range results {
			log.report(ctx, c, f.Key, f.Result)
		}
	}
}

// dropUnowned forgets what is known of the keys of others.
func (r *Runtime) dropUnowned() {
	for _, c := range r.group.Controllers() {
		c.Release(func(key eval.Key) bool { return !c.Owns(key) })
		if of := r.controller(c.Policy.ID()); of != nil {
			of.health.release(c.Owns)
		}
	}
}

// Place takes which policies are not spread over the shards. The keys that are reconciled
// here from now on are queued.
func (r *Runtime) Place(p shards.Placement) {
	var changed []string
	r.takeOver(func() { changed = r.options.Owned.Place(p) })
	defer r.tookOver()
	if len(changed) == 0 {
		return
	}
	r.dropUnowned()
	for _, c := range r.group.Controllers() {
		if slices.Contains(changed, c.Policy.Name) {
			r.acquire(c, c.Owns)
		}
	}
}

// Settled reports whether nothing is under way that began by an earlier placement, of the
// policies that no replica evaluates by the present one.
func (r *Runtime) Settled() bool { return r.options.Owned.Settled() }

// takeOver changes what is owned, after which keys are taken over until tookOver.
func (r *Runtime) takeOver(change func()) {
	r.noting.Lock()
	r.taking++
	r.noting.Unlock()
	change()
}

func (r *Runtime) tookOver() {
	r.noting.Lock()
	r.taking--
	r.noting.Unlock()
	r.noteUndivided()
}

// noteUndivided notes which policies the holder of shard 0 decides about alone. While keys
// are being taken over, none is added.
func (r *Runtime) noteUndivided() {
	r.noting.Lock()
	defer r.noting.Unlock()
	led, leads := map[string]bool{}, slices.Contains(r.options.Owned.Held(), 0)
	for policy, phase := range r.options.Owned.Placement() {
		led[policy] = leads && phase == shards.Led && (r.taking == 0 || r.Undivided(policy))
	}
	r.undivided.Store(&led)
}

// Stepwise tells which policies have revisions that come into force in steps, by name. With
// several shards the leader has to decide about all their keys: only it compares revisions.
func (r *Runtime) Stepwise(policies map[string]bool) { r.stepwise.Store(&policies) }

// Undivided reports whether all keys of a policy are decided about by this process, for
// which it was to be stepwise.
func (r *Runtime) Undivided(policy string) bool {
	if r.options.Owned == nil {
		return true
	}
	led := r.undivided.Load()
	return led != nil && (*led)[policy]
}

// Gathered returns the policies that must not be spread over the shards, by name.
func (r *Runtime) Gathered() shards.Placement {
	out := shards.Placement{}
	if stepwise := r.stepwise.Load(); stepwise != nil {
		for policy := range *stepwise {
			out[policy] = shards.Led
		}
	}
	for _, c := range r.group.Controllers() {
		if need := shards.Needs(c.Policy); c.InForce() && need != "" && out[c.Policy.Name] != shards.Led {
			out[c.Policy.Name] = need
		}
	}
	return out
}

// release forgets the failures of keys that are reconciled elsewhere.
func (h *health) release(owns func(eval.Key) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key := range h.failing {
		if !owns(key) {
			delete(h.failing, key)
		}
	}
	for key := range h.aside {
		if !owns(key) {
			delete(h.aside, key)
		}
	}
	observe.Failing.WithLabelValues(h.policy).Set(float64(len(h.failing)))
}
