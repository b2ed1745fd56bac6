package reconcile

import (
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// recall gives what a key remembered.
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
	before := len(c.memory[key])
	for name, v := range news {
		if v == nil || value.IsNull(v) {
			delete(c.memory[key], name)
		} else {
			c.memory[key][name] = v
		}
	}
	c.counts.Remembered.Add(float64(len(c.memory[key]) - before))
}

// remembered is all that a key remembers, for the trace.
func (c *Controller) remembered(key eval.Key) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]any, len(c.memory[key]))
	for name, v := range c.memory[key] {
		out[name] = value.Plain(v)
	}
	return out
}
