package reconcile

import (
	"maps"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// recall returns what a key remembered.
func (c *Controller) recall(key eval.Key) func(string) value.Value {
	return func(name string) value.Value {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.memory[key][name]
	}
}

func (c *Controller) remember(key eval.Key, news map[string]value.Value) {
	if len(news) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memory[key] == nil {
		c.memory[key] = map[string]value.Value{}
	}
	before, bytes := len(c.memory[key]), rememberedBytes(c.memory[key], nil)
	for name, v := range news {
		if v == nil || value.IsNull(v) {
			delete(c.memory[key], name)
		} else {
			c.memory[key][name] = v
		}
	}
	c.counts.Remembered.Add(float64(len(c.memory[key]) - before))
	c.remembering += rememberedBytes(c.memory[key], nil) - bytes
	c.measure()
}

// Restore makes a key remember values, as if evaluations before had.
func (c *Controller) Restore(key eval.Key, values map[string]value.Value) { c.remember(key, values) }

// rememberedBytes is what some values take in memory, but for those of some
// names.
func rememberedBytes(memory, except map[string]value.Value) (sum int) {
	for name, v := range memory {
		if _, ok := except[name]; !ok {
			sum += eval.RememberedBytes(name, v)
		}
	}
	return sum
}

// memorySize returns how many bytes a key, and all keys, remember but for some
// names of that key.
func (c *Controller) memorySize(key eval.Key) func(except map[string]value.Value) (own, all int) {
	return func(except map[string]value.Value) (own, all int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		own = rememberedBytes(c.memory[key], except)
		return own, c.remembering - rememberedBytes(c.memory[key], nil) + own
	}
}

// weighMemory counts anew what all keys remember, when much of it has changed.
func (c *Controller) weighMemory() {
	c.remembering = 0
	for _, values := range c.memory {
		c.remembering += rememberedBytes(values, nil)
	}
	c.measure()
}

// keep counts what a memo keeps, and lets go of it when there is no more room.
func (c *Controller) keep(memo *eval.Memo, before int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.addKeeping(memo.Kept() - before)
	if c.keeping > eval.MaxMemoAll || all > eval.MaxMemoProcess {
		c.addKeeping(-memo.Kept())
		memo.Drop()
	}
	c.measure()
}

// addKeeping counts what the memos keep, and returns how much those of all
// controllers do. One that was removed does not count.
func (c *Controller) addKeeping(bytes int) (all int) {
	c.keeping += bytes
	if c.removed {
		return int(c.group.keeping.Load())
	}
	return int(c.group.keeping.Add(int64(bytes)))
}

// measure says how many bytes the policy keeps between evaluations.
func (c *Controller) measure() {
	sum := int64(c.keeping + c.remembering + c.intents.bytes + c.echoes.bytes)
	c.retained.Store(sum)
	if r := c.rollout.Load(); r != nil {
		sum += r.other(c).retained.Load()
	}
	c.counts.Retained.Set(float64(sum))
}

// remembered is all that a key remembers, for the record.
func (c *Controller) remembered(key eval.Key) map[string]value.Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.memory[key])
}
