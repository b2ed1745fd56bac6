package reconcile

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// Kept writes what the controller remembers and what waits to be run, sorted: what of
// it would be lost if the process ended. Times are written as offsets to now. It
// reports whether there is any.
func (c *Controller) Kept(w io.Writer, now time.Time) (some bool) {
	for _, key := range c.known.memories.keys() {
		values := c.known.memories.values(key)
		for _, name := range slices.Sorted(maps.Keys(values)) {
			some = true
			fmt.Fprintf(w, "%s %s %s=%v\n", c.Policy.ID(), key, name, offset(values[name], now))
		}
	}
	c.known.intents.mu.Lock()
	defer c.known.intents.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.known.intents.byName)) {
		i := c.known.intents.byName[name]
		if !i.pending && !i.last.Add(i.window).After(now) {
			continue
		}
		some = true
		fmt.Fprintf(w, "%s %s %s %d %v %v %v\n", c.Policy.ID(), name, i.key, i.rule, i.pending, since(i.due, now), since(i.last, now))
	}
	return some
}

// Restore makes a key remember values, as if evaluations before had.
func (c *Controller) Restore(key eval.Key, values map[string]value.Value) {
	c.known.remember(key, values)
}

func since(at, now time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Sub(now).String()
}

// offset returns a remembered value as plain values; a time relative to now.
func offset(v value.Value, now time.Time) any {
	if at, ok := value.Time(v); ok {
		return at.Sub(now)
	}
	return value.Plain(v)
}
