package reconcile

import (
	"context"

	"github.com/edict-dev/edict/engine/record"
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
		kept.Memory = c.memories.values(kept.Inputs.Key)
	}
	r.Record = kept
	c.group.Records.Add(kept)
}
