package watch

import (
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
)

// input maps a change of an input's object.
func (c *change) input(i int, in *plan.Input) {
	if c.sameUnder(in.Reads) {
		return
	}
	routes := c.router.inputs[i]
	side := eval.NewSide(c.ctx, c.router.policy, eval.Key{}, nil)
	defer side.Close()
	c.optional(in, side)
	routes.atTimes.near(in, c.either(), func(key eval.Key) { c.wake[key] = true })
	switch {
	case in.Shape == plan.One:
		c.named(routes, in, side)
	case in.Join.Depends && in.Join.Probe != nil:
		c.joined(routes, in, side)
	case in.Join.Depends:
		c.scanned(in)
	default:
		c.shared(routes, in, side)
	}
}

// named wakes the keys that get the object by its name, and whose last decision may
// have read what has changed of it.
func (c *change) named(routes *inputRoutes, in *plan.Input, side *eval.Side) {
	for _, text := range side.ItemKeys(in, c.either()) {
		routes.probes.each(text, func(key eval.Key) {
			if !c.untouched(routes.reads[key]) {
				c.wake[key] = true
			}
		})
	}
}

// joined wakes the keys that the index finds for the object as it was or is.
func (c *change) joined(routes *inputRoutes, in *plan.Input, side *eval.Side) {
	if len(routes.probes) == 0 {
		return // no key has members: in a first list most objects may come before the primaries
	}
	before, after := side.ItemKeys(in, c.old), side.ItemKeys(in, c.now)
	same := c.sameUnder(in.Content)
	was, is := found(routes.probes, before), found(routes.probes, after)
	for key := range was {
		c.judge(in, key, same, true, is[key])
	}
	for key := range is {
		if !was[key] {
			c.judge(in, key, same, false, true)
		}
	}
}

func found(probes multiMap, texts []string) map[eval.Key]bool {
	out := map[eval.Key]bool{}
	for _, text := range texts {
		probes.each(text, func(key eval.Key) { out[key] = true })
	}
	return out
}

// judge wakes a key if the object came in, went out, or changed in what is
// read of it. An index that is exact has said all about membership; otherwise
// the whole `where` is asked.
func (c *change) judge(in *plan.Input, key eval.Key, same, was, is bool) {
	if in.Join.Exact {
		if was != is || was && !same {
			c.wake[key] = true
		}
		return
	}
	c.membership(in, key, same, was, is)
}

// membership wakes a key if the object came in, went out, or changed in what is read
// of it, or may have done so.
func (c *change) membership(in *plan.Input, key eval.Key, same, maybeWas, maybeIs bool) {
	side := eval.NewSide(c.ctx, c.router.policy, key, c.router.primaries[key].object)
	defer side.Close()
	was, is := eval.NotMember, eval.NotMember
	if maybeWas {
		_, was = side.Member(in, c.old)
	}
	if maybeIs {
		_, is = side.Member(in, c.now)
	}
	if was != is || was == eval.AtTimes || was == eval.Member && !same {
		c.wake[key] = true
	}
}

// optional wakes the keys without a primary object that the changed object names or named. A
// key that both versions name is woken only if its membership or content changed.
func (c *change) optional(in *plan.Input, side *eval.Side) {
	if in.Naming == nil {
		return
	}
	before, after := side.Named(in, c.old), side.Named(in, c.now)
	same := c.sameUnder(in.Content)
	for _, key := range slices.Concat(before, after) {
		_, known := c.router.primaries[key]
		both := slices.Contains(before, key) && slices.Contains(after, key)
		switch {
		case known:
		case both:
			c.membership(in, key, same, true, true)
		default:
			c.wake[key] = true
		}
	}
}

// scanned asks every key; there is no index.
func (c *change) scanned(in *plan.Input) {
	same := c.sameUnder(in.Content)
	for key := range c.router.primaries {
		c.membership(in, key, same, true, true)
	}
}

// shared is an input whose members are the same for every key, or for every key of a
// namespace. Of a map, only the keys that looked the entry up are woken; of a list,
// all that read it.
func (c *change) shared(routes *inputRoutes, in *plan.Input, side *eval.Side) {
	oldKey, was := side.Member(in, c.old)
	newKey, is := side.Member(in, c.now)
	if was == is && (was == eval.NotMember || was == eval.Member && oldKey == newKey && c.sameUnder(in.Content)) {
		return
	}
	wake := c.near(in)
	routes.whole.near(in, c.either(), wake)
	if was != eval.NotMember {
		routes.entries.each(oldKey, wake)
	}
	if is != eval.NotMember {
		routes.entries.each(newKey, wake)
	}
}

// near wakes a key if the object may be in its list.
func (c *change) near(in *plan.Input) func(eval.Key) {
	return func(key eval.Key) {
		if in.Near(key.Namespace, c.either()) {
			c.wake[key] = true
		}
	}
}
