package run

import (
	"context"
	"time"

	"github.com/edict-dev/edict/engine/world"
)

// reachInterval is how often it is looked how far the watches have come. What a
// watch had seen one interval ago is in the read model by now.
const reachInterval = time.Second

// followWatches tells the read model how far each watch has come, until the context
// ends: an object that was made and is not seen by then was deleted by others.
func (f *feeds) followWatches(ctx context.Context) {
	ticks := time.NewTicker(reachInterval)
	defer ticks.Stop()
	for before := map[*feed]string{}; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		now := map[*feed]string{}
		for source, informer := range f.listed() {
			if version := before[informer]; version != "" {
				f.wake(f.group.Reached(source, version))
			}
			now[informer] = informer.informer.LastSyncResourceVersion()
		}
		before = now
	}
}

// listed returns the feeds whose first list was handed on.
func (f *feeds) listed() map[world.Source]*feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[world.Source]*feed{}
	for source, informer := range f.informers {
		select {
		case <-informer.synced:
			out[source] = informer
		default:
		}
	}
	return out
}
