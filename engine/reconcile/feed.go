package reconcile

import (
	"context"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// Wake is a key that a change concerns.
type Wake struct {
	Controller *Controller
	Key        eval.Key
}

// Put takes an object of a source, new or changed, and returns the keys to
// reconcile; when there is a Delivery, it gets most of them later.
func (g *Group) Put(ctx context.Context, source world.Source, object map[string]any) []Wake {
	as := source
	if g.Digests && source.GVK == schema.Secret {
		object, as.Values = readmodel.Undigested(object)
		as.Values = as.Values || source.Values
	}
	return g.PutObject(ctx, source, readmodel.Object(as, object, g.schemas.Of(source.GVK), g.store.Mask(source)))
}

// PutObject is Put for an object that was read already.
func (g *Group) PutObject(ctx context.Context, source world.Source, o *world.Object) []Wake {
	g.feeding.Lock()
	defer g.feeding.Unlock()
	old, now := g.store.Put(source, o)
	switch {
	case now == nil:
		return nil
	case old == now:
		return g.controllers.undone(now)
	}
	if old != nil && old.UID != now.UID {
		return g.tell(ctx, change{source: source, old: old}, change{source: source, now: now})
	}
	return g.tell(ctx, change{source: source, old: old, now: now})
}

// Delete takes the news that an object of a source is gone.
func (g *Group) Delete(ctx context.Context, source world.Source, namespace, name string) []Wake {
	g.feeding.Lock()
	defer g.feeding.Unlock()
	old := g.store.Delete(source, namespace, name)
	if old == nil {
		return nil
	}
	return g.tell(ctx, change{source: source, old: old})
}

// Replay tells a controller of everything that its sources hold already, and
// gives the keys there are: those of primaries, and those that only inputs
// name.
func (g *Group) Replay(ctx context.Context, c *Controller) []eval.Key {
	g.feeding.Lock()
	defer g.feeding.Unlock()
	snapshot := g.store.Snapshot()
	c.known.replay()
	return c.reads.replay(ctx, snapshot)
}
