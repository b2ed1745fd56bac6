package informers

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/world"
)

// reachInterval is the interval between reports of progress. What a watch had seen one
// interval ago is in the read model by now.
const reachInterval = time.Second

// progress reports to the read model how far each watch has come: an object that was
// created, and is not seen by then, was deleted by another client.
type progress struct {
	options *Options
	listed  func() map[world.Source]*informer
}

// follow reports the progress until the context ends.
func (p *progress) follow(ctx context.Context) {
	ticks := time.NewTicker(reachInterval)
	defer ticks.Stop()
	for before := map[*informer]string{}; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		now := map[*informer]string{}
		for source, informer := range p.listed() {
			if version := before[informer]; version != "" {
				p.options.Queues.Wake(p.options.Group.Reached(source, version))
			}
			now[informer] = informer.shared.LastSyncResourceVersion()
		}
		before = now
	}
}
