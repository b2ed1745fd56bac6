package reconcile

import (
	"context"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/record"
)

// maxWakes is how many changes are kept of those that woke a key since it was
// last decided about.
const maxWakes = 8

// noteWakes notes the change by which keys are woken.
func (c *Controller) noteWakes(keys []eval.Key, by change) {
	if len(keys) == 0 {
		return
	}
	wake := record.Wake{Reason: record.Changed, Source: by.source, Before: by.old, After: by.now}
	switch {
	case by.old == nil:
		wake.Reason = record.Created
	case by.now == nil:
		wake.Reason = record.Deleted
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if list := c.wakes[key]; len(list) < maxWakes {
			c.wakes[key] = append(list, wake)
		}
	}
}

// takeWakes returns why a key is decided about now. What no change has woken was
// woken by time, by an edit or by the start.
func (c *Controller) takeWakes(key eval.Key) []record.Wake {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wakes := c.wakes[key]; len(wakes) > 0 {
		delete(c.wakes, key)
		return wakes
	}
	last, decided := c.last[key]
	switch {
	case decided && last.retries:
		return byRetry
	case decided:
		return byDeadline
	case c.edited:
		return byEdit
	default:
		return byStart
	}
}

// What is woken by no change has one reason; the lists are shared, and are not changed.
var (
	byRetry    = []record.Wake{{Reason: record.Retry}}
	byDeadline = []record.Wake{{Reason: record.Deadline}}
	byEdit     = []record.Wake{{Reason: record.Edit}}
	byStart    = []record.Wake{{Reason: record.Start}}
)

// NewID returns the ID of the next reconciliation.
func (c *Controller) NewID() record.ID {
	if c.group.Records != nil {
		return c.group.Records.NewID()
	}
	return c.group.unkept.NewID()
}

// identified returns the ID of the reconciliation under way, which is a new one unless
// the context carries it.
func (c *Controller) identified(ctx context.Context) (context.Context, record.ID) {
	id := record.IDOf(ctx)
	if id.IsZero() {
		id = c.NewID()
		ctx = record.WithID(ctx, id)
	}
	return ctx, id
}

// record keeps what was decided about a key, and what came of it.
func (c *Controller) record(kept *record.Record, woken []record.Wake, r *Result) {
	kept.End()
	kept.WokenBy, kept.Decision, kept.Outcomes, kept.Next = woken, r.Decision, r.Outcomes, r.Next
	kept.Errors = [2]error{r.Err, r.Final}
	if c.Policy.Stateful {
		kept.Memory = c.remembered(kept.Inputs.Key)
	}
	r.Record = kept
	c.group.Records.Add(kept)
}
