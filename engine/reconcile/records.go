package reconcile

import (
	"context"

	"github.com/edict-dev/edict/engine/record"
)

// NewID returns the ID of the next reconciliation.
func (c *Controller) NewID() record.ID { return c.group.newID() }

func (g *Group) newID() record.ID {
	if g.Records != nil {
		return g.Records.NewID()
	}
	return g.unkept.NewID()
}

// identified returns the ID of the reconciliation under way, which is a new one unless
// the context carries it.
func (g *Group) identified(ctx context.Context) (context.Context, record.ID) {
	id := record.IDOf(ctx)
	if id.IsZero() {
		id = g.newID()
		ctx = record.WithID(ctx, id)
	}
	return ctx, id
}
