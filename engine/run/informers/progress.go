package informers

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
func (s *Set) followProgress(ctx context.Context) {
	ticks := time.NewTicker(reachInterval)
	defer ticks.Stop()
	for before := map[*informer]string{}; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		now := map[*informer]string{}
		for source, informer := range s.listed() {
			if version := before[informer]; version != "" {
				s.Wake(s.options.Group.Reached(source, version))
			}
			now[informer] = informer.shared.LastSyncResourceVersion()
		}
		before = now
	}
}

// listed returns the feeds whose first list was handed on.
func (s *Set) listed() map[world.Source]*informer {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[world.Source]*informer{}
	for source, informer := range s.informers {
		select {
		case <-informer.synced:
			out[source] = informer
		default:
		}
	}
	return out
}
