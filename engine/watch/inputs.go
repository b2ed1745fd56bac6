package watch

import (
	"slices"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

// input maps a change of an input's object.
func (c *change) input(i int, in *plan.Input) {
	if c.sameUnder(in.Reads) {
		return
	}
	routes := c.inputs[i]
	side := eval.NewSide(c.ctx, c.policy, eval.Key{}, nil)
	defer side.Close()
	c.optional(in, side)
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
	if !in.Join.Exact {
		was, is = c.membership(in, key, was, is)
	}
	if was != is || was && !same {
		c.wake[key] = true
	}
}

func (c *change) membership(in *plan.Input, key eval.Key, maybeWas, maybeIs bool) (was, is bool) {
	side := eval.NewSide(c.ctx, c.policy, key, c.primaries[key])
	defer side.Close()
	return maybeWas && member(side, in, c.old), maybeIs && member(side, in, c.now)
}

func member(side *eval.Side, in *plan.Input, o *world.Object) bool {
	_, ok := side.Member(in, o)
	return ok
}

// optional wakes the keys without a primary that the object names or named.
func (c *change) optional(in *plan.Input, side *eval.Side) {
	if in.Naming == nil {
		return
	}
	before, after := side.Named(in, c.old), side.Named(in, c.now)
	same := c.sameUnder(in.Content)
	for _, key := range slices.Concat(before, after) {
		_, known := c.primaries[key]
		both := slices.Contains(before, key) && slices.Contains(after, key)
		if !known && (!both || !same) {
			c.wake[key] = true
		}
	}
}

// scanned asks every key; there is no index.
func (c *change) scanned(in *plan.Input) {
	same := c.sameUnder(in.Content)
	for key := range c.primaries {
		was, is := c.membership(in, key, c.old != nil, c.now != nil)
		if was != is || was && !same {
			c.wake[key] = true
		}
	}
}

// shared is an input whose members are the same for every key, or for every key of a
// namespace. Of a map, only the keys that looked the entry up are woken; of a list,
// all that read it.
func (c *change) shared(routes *inputRoutes, in *plan.Input, side *eval.Side) {
	oldKey, was := side.Member(in, c.old)
	newKey, is := side.Member(in, c.now)
	if !was && !is || was == is && oldKey == newKey && c.sameUnder(in.Content) {
		return
	}
	wake := c.near(in)
	routes.whole.near(in, c.either(), wake)
	if was {
		routes.entries.each(oldKey, wake)
	}
	if is {
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
