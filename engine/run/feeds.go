package run

import (
	"context"
	"sync"
	"time"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// feeds keeps one informer per source that some policy reads, and hands its
// events to the read model. Policies share the informers.
type feeds struct {
	*term
	mu        sync.Mutex
	informers map[world.Source]*feed
	// workers are by the IDs of their policies.
	workers map[string]*worker
	wg      sync.WaitGroup
	// failing are the watches that cannot be opened, by their URL.
	failing map[string]*watchFault
	// members is held while somebody begins or ceases to read sources.
	members sync.Mutex
}

func newFeeds(t *term) *feeds {
	return &feeds{term: t, informers: map[world.Source]*feed{}, workers: map[string]*worker{}, failing: map[string]*watchFault{}}
}

func (f *feeds) wait() { f.wg.Wait() }

// subscribe makes a policy's worker known, so that it can be woken.
func (f *feeds) subscribe(w *worker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workers[w.id] = w
}

// unsubscribe forgets a worker.
func (f *feeds) unsubscribe(w *worker) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.workers[w.id] == w {
		delete(f.workers, w.id)
	}
}

// join adds a policy to those that read sources.
func (f *feeds) join(p *plan.Policy) *reconcile.Controller {
	f.members.Lock()
	defer f.members.Unlock()
	return f.group.Join(p)
}

// visit adds a policy that is only tried out.
func (f *feeds) visit(p *plan.Policy) *reconcile.Controller {
	f.members.Lock()
	defer f.members.Unlock()
	return f.group.Visit(p)
}

// leave takes a policy off, and ends the watches that nobody needs any more.
func (f *feeds) leave(c *reconcile.Controller) {
	f.members.Lock()
	defer f.members.Unlock()
	for _, source := range f.group.Remove(c) {
		f.close(source)
	}
}

// close ends the watch of a source.
func (f *feeds) close(source world.Source) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if informer := f.informers[source]; informer != nil {
		informer.stop()
		delete(f.failing, informer.id)
		delete(f.informers, source)
		observe.BrokenWatches.Set(float64(len(f.failing)))
	}
	f.store.Close(source)
	f.Log.Info("no longer watching", "kind", source.Kind, "namespace", source.Namespace, "name", source.Name, "selector", source.Selector)
}

// open makes sure that sources are watched with all the parts that policies
// read of them, and waits for their first lists.
func (f *feeds) open(ctx context.Context, sources []world.Source) bool {
	for _, source := range sources {
		for err := f.ensure(source); err != nil; err = f.ensure(source) {
			f.Log.Error("cannot watch, and will try again", "kind", source.Kind, "error", err.Error())
			select {
			case <-ctx.Done():
				return false
			case <-time.After(f.PollInterval):
			}
		}
	}
	for _, source := range sources {
		if !f.await(ctx, source) {
			return false
		}
	}
	return true
}

// await waits for the first list of a source, of whichever informer is its
// last.
func (f *feeds) await(ctx context.Context, source world.Source) bool {
	for {
		f.mu.Lock()
		current := f.informers[source]
		f.mu.Unlock()
		if current == nil {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-current.synced:
			return true
		case <-current.replaced:
		}
	}
}

// ensure starts a source's informer, anew if it keeps too little of the
// objects for what is read of them now.
func (f *feeds) ensure(source world.Source) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	mask := f.store.Mask(source)
	have, ok := f.informers[source]
	if ok && value.Covers(have.mask, mask) {
		return nil
	}
	return f.replace(source, mask, have)
}

// replace starts an informer in place of another one, which may be nil.
func (f *feeds) replace(source world.Source, mask *value.Mask, have *feed) error {
	inner, stop := context.WithCancel(f.watching) // policies share it, and come and go
	next := newFeed(source, mask, f.urlOf(source), stop)
	if err := f.start(inner, next); err != nil {
		stop()
		return err
	}
	f.informers[source] = next
	if have != nil {
		have.stop()
		close(have.replaced)
	}
	return nil
}

// restart reads a source again from the beginning: what its informer has is
// wrong.
func (f *feeds) restart(have *feed) {
	for f.watching.Err() == nil {
		f.mu.Lock()
		if f.informers[have.source] != have {
			f.mu.Unlock()
			return // somebody else has, or nobody reads it any more
		}
		err := f.replace(have.source, have.mask, have)
		f.mu.Unlock()
		if err == nil {
			return
		}
		f.Log.Error("cannot watch, and will try again", "kind", have.source.Kind, "error", err.Error())
		select {
		case <-f.watching.Done():
		case <-time.After(f.PollInterval):
		}
	}
}

func (f *feeds) wake(woken []reconcile.Wake) {
	if len(woken) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range woken {
		if worker, ok := f.workers[w.Controller.Policy.ID()]; ok {
			worker.queue.Add(w.Key)
		}
	}
}
