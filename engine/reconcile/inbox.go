package reconcile

import (
	"context"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/world"
)

// inbox holds the changes that a controller has still to map to keys, in the
// order in which they were taken into the read model. Each controller works its
// own off, so that joins which take long delay no other policy.
type inbox struct {
	mu      sync.Mutex
	changes []change
	// room is signalled when changes were taken out.
	room *sync.Cond
	// draining says that a goroutine works it off.
	draining bool
	closed   bool
}

// change is a change of an object of a source.
type change struct {
	source   world.Source
	old, now *world.Object
	// at is when it was received, if that is traced.
	at time.Time
}

// maxWaiting is how many changes may wait. Beyond it whoever feeds the read model
// waits, and with it the other policies: memory must not grow without end.
const maxWaiting = 10_000

func newInbox() *inbox {
	b := &inbox{}
	b.room = sync.NewCond(&b.mu)
	return b
}

// add adds changes, and reports whether the caller has to see to it that they
// are worked off.
func (b *inbox) add(changes ...change) (start bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.draining && !b.closed && len(b.changes) >= maxWaiting {
		b.room.Wait()
	}
	if b.closed {
		return false
	}
	b.changes = append(b.changes, changes...)
	start, b.draining = !b.draining, true
	return start
}

// take returns what is there; nothing ends the draining.
func (b *inbox) take() []change {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.changes
	b.changes = nil
	b.draining = len(out) > 0
	b.room.Broadcast()
	return out
}

// close drops what is there, and what comes.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.changes = true, nil
	b.room.Broadcast()
}

// tell hands changes to every controller. Without a Delivery they are mapped at
// once, and the keys to reconcile are returned.
func (g *Group) tell(ctx context.Context, changes ...change) (out []Wake) {
	if g.Tracer != nil {
		for i := range changes {
			changes[i].at = time.Now()
		}
	}
	for _, c := range g.controllers.all() {
		if g.Delivery == nil {
			out = append(out, c.route(ctx, changes)...)
			continue
		}
		g.Delivery.deliver(c, changes)
	}
	return out
}

// route maps changes to the keys that they concern.
func (c *Controller) route(ctx context.Context, changes []change) (out []Wake) {
	for _, one := range changes {
		keys := c.watched(c.reads.router.Change(ctx, one.source, one.old, one.now))
		c.noteTakeover(&one)
		c.known.woken(keys)
		c.noteWakes(keys, one)
		for _, key := range keys {
			out = append(out, Wake{Controller: c, Key: key})
		}
	}
	return out
}
