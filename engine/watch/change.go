package watch

import (
	"context"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// change is one change while it is mapped.
type change struct {
	router   *Router
	ctx      context.Context
	old, now *world.Object
	wake     map[eval.Key]bool
	// same tells of masks whether nothing under them has changed.
	same map[*value.Mask]bool
}

func (c *change) either() *world.Object {
	if c.now != nil {
		return c.now
	}
	return c.old
}

// sameUnder reports whether nothing under the mask has changed.
func (c *change) sameUnder(mask *value.Mask) bool {
	return c.old != nil && c.now != nil && c.old.UID == c.now.UID && value.SameUnder(c.old.Value, c.now.Value, mask)
}

func (c *change) primary() {
	o := c.either()
	key := eval.Key{Namespace: o.Namespace, Name: o.Name}
	known, was := c.router.primaries[key]
	is, left := c.decided(was)
	if !was && !is {
		return
	}
	turned := c.router.left[key] != left
	if delete(c.router.left, key); left {
		c.router.left[key] = true
	}
	if turned || was != is || !c.sameUnder(c.router.policy.ObjectReads) {
		c.wake[key] = true
	}
	if !is {
		delete(c.router.primaries, key)
		c.probes(key, nil)
		return
	}
	if !was {
		known.only = &keySet{one: key}
	}
	c.router.primaries[key] = primary{c.now, known.only}
	if !was || !c.sameUnder(c.router.policy.ObjectReads) {
		c.probes(key, c.now)
	}
}

// decided reports whether the object as it is now is one that the policy decides
// about, and whether it is so although it has left the selector.
func (c *change) decided(was bool) (is, left bool) {
	p := &c.router.policy.Primary
	if c.now == nil || !c.router.watched.MatchesLabelsOf(c.now.Value) {
		return false, false
	}
	left = p.Follows && !p.Selects(c.now) && (was || p.Left(c.now))
	return left || p.Selects(c.now), left
}

// probes keeps the index keys of a key's members up to date.
func (c *change) probes(key eval.Key, object *world.Object) {
	var side *eval.Side
	if object != nil || c.router.policy.Primary.Optional {
		side = eval.NewSide(c.ctx, c.router.policy, key, object)
		defer side.Close()
	}
	for i, in := range c.router.policy.Inputs {
		if in.Off || in.Join.Probe == nil && in.Shape != plan.One {
			continue
		}
		routes := c.router.inputs[i]
		for _, p := range routes.of[key] {
			routes.probes.remove(p, key)
		}
		delete(routes.of, key)
		routes.atTimes.remove(key)
		if side == nil || object == nil {
			delete(routes.reads, key)
			continue
		}
		probes, atTimes := side.Probes(in)
		if atTimes {
			routes.atTimes.add(key)
		}
		for _, p := range probes {
			routes.probes.add(p, c.router.only(key))
		}
		routes.of[key] = probes
	}
}

func (c *change) target(i int, t *plan.Target) {
	if c.sameUnder(t.Reads) {
		return
	}
	o := c.either()
	c.router.targets[i].each(eval.TargetKey(o.Namespace, o.Name), func(key eval.Key) { c.wake[key] = true })
}
