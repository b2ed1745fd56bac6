package reconcile

import "context"

// Delivery maps changes to keys beside the caller: Start runs a function in a
// goroutine, with a context that ends when nothing is to be mapped any more;
// Woken takes the keys to reconcile.
type Delivery struct {
	Start func(func(context.Context))
	Woken func([]Wake)
}

// deliver hands changes to a controller, and sees to it that they are mapped.
func (d *Delivery) deliver(c *Controller, changes []change) {
	if c.inbox.add(changes...) {
		d.Start(func(ctx context.Context) { d.drain(ctx, c) })
	}
}

// drain maps the changes that a controller has in its inbox, until there are none.
func (d *Delivery) drain(ctx context.Context, c *Controller) {
	for changes := c.inbox.take(); len(changes) > 0; changes = c.inbox.take() {
		if ctx.Err() == nil {
			d.Woken(c.route(ctx, changes))
		}
	}
}
