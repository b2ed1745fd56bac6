package reconcile

import (
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

func (c *Controller) remember(key eval.Key, news map[string]value.Value) {
	if len(news) == 0 {
		return
	}
	c.counts.Remembered.Add(float64(c.memories.remember(key, news)))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.measure()
}

// Restore makes a key remember values, as if evaluations before had.
func (c *Controller) Restore(key eval.Key, values map[string]value.Value) { c.remember(key, values) }

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
	sum := int64(c.keeping + c.memories.total() + c.intents.total() + c.echoes.total())
	c.retained.Store(sum)
	if r := c.rollout.Load(); r != nil {
		sum += r.other(c).retained.Load()
	}
	c.counts.Retained.Set(float64(sum))
}
