// Package informers watches what policies read, and keeps the read model up to date.
// It decides whether an object that is missing in a new list was deleted, and reports
// what may be out of date.
package informers

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/discovery"
	"github.com/edict-dev/edict/engine/run/writer"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Set has one informer for each source that some policy reads, and stores its events
// in the read model. Policies share the informers.
type Set struct {
	options Options
	// watching ends the informers, working what is under way.
	watching, working context.Context

	mu        sync.Mutex
	informers map[world.Source]*informer
	// queues are the work queues, by the IDs of their policies.
	queues map[string]Queue
	wg     sync.WaitGroup
	// failing are the watches that cannot be opened, by their URL.
	failing map[string]*watchFault
	// members is held while the sources that are read change.
	members sync.Mutex
}

// Queue takes the keys to reconcile.
type Queue interface{ Add(key eval.Key) }

// Options are what the informers need.
type Options struct {
	Log    *slog.Logger
	Kinds  *discovery.Kinds
	Config *rest.Config
	HTTP   *http.Client
	// Writer has the resources of kinds, and a client for metadata.
	Writer *writer.Writer
	// Group and Store are the read model.
	Group *reconcile.Group
	Store *world.Store
	// Poll is the interval between attempts to watch a kind.
	Poll time.Duration
	// Count counts errors of watches.
	Count func(plan.Happening)
	// End ends the process.
	End func(error)
}

// New returns a set without informers. They run until watching ends; requests that
// are under way then may take until working ends.
func New(watching, working context.Context, o Options) *Set {
	return &Set{
		options: o, watching: watching, working: working,
		informers: map[world.Source]*informer{}, queues: map[string]Queue{}, failing: map[string]*watchFault{},
	}
}

// Start follows the progress and the versions of the watches.
func (s *Set) Start() {
	s.wg.Go(func() { s.followVersions(s.watching) })
	s.wg.Go(func() { s.followProgress(s.watching) })
}

// Go runs a function that Wait waits for.
func (s *Set) Go(do func()) { s.wg.Go(do) }

// Wait waits until all informers have ended.
func (s *Set) Wait() { s.wg.Wait() }

// Subscribe adds the work queue of a policy.
func (s *Set) Subscribe(id string, q Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues[id] = q
}

// Unsubscribe removes the work queue of a policy, unless it is another one by now.
func (s *Set) Unsubscribe(id string, q Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queues[id] == q {
		delete(s.queues, id)
	}
}

// Enqueue adds keys to the work queue of a policy.
func (s *Set) Enqueue(id string, keys []eval.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues[id]; q != nil {
		for _, key := range keys {
			q.Add(key)
		}
	}
}

// Join adds a policy to those that read sources.
func (s *Set) Join(p *plan.Policy) *reconcile.Controller {
	s.members.Lock()
	defer s.members.Unlock()
	return s.options.Group.Join(p)
}

// Visit adds a policy that is only tried out.
func (s *Set) Visit(p *plan.Policy) *reconcile.Controller {
	s.members.Lock()
	defer s.members.Unlock()
	return s.options.Group.Visit(p)
}

// Leave removes a policy, and ends the watches that no other policy needs.
func (s *Set) Leave(c *reconcile.Controller) {
	s.members.Lock()
	defer s.members.Unlock()
	for _, source := range s.options.Group.Remove(c) {
		s.close(source)
	}
}

// close ends the watch of a source.
func (s *Set) close(source world.Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if informer := s.informers[source]; informer != nil {
		informer.stop()
		delete(s.failing, informer.id)
		delete(s.informers, source)
		observe.BrokenWatches.Set(float64(len(s.failing)))
	}
	s.options.Store.Close(source)
	s.options.Log.Info("no longer watching", "kind", source.Kind, "namespace", source.Namespace, "name", source.Name, "selector", source.Selector)
}

// Open watches sources with all the fields that policies read of them, and waits for
// their first lists. It reports whether it has them.
func (s *Set) Open(ctx context.Context, sources []world.Source) bool {
	for _, source := range sources {
		for err := s.ensure(source); err != nil; err = s.ensure(source) {
			s.options.Log.Error("cannot watch, and will try again", "kind", source.Kind, "error", err.Error())
			select {
			case <-ctx.Done():
				return false
			case <-time.After(s.options.Poll):
			}
		}
	}
	for _, source := range sources {
		if !s.await(ctx, source) {
			return false
		}
	}
	return true
}

// await waits for the first list of a source, of whichever informer is its
// last.
func (s *Set) await(ctx context.Context, source world.Source) bool {
	for {
		s.mu.Lock()
		current := s.informers[source]
		s.mu.Unlock()
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
func (s *Set) ensure(source world.Source) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	mask := s.options.Store.Mask(source)
	have, ok := s.informers[source]
	if ok && value.Covers(have.mask, mask) {
		return nil
	}
	return s.replace(source, mask, have)
}

// replace starts an informer in place of another one, which may be nil.
func (s *Set) replace(source world.Source, mask *value.Mask, have *informer) error {
	inner, stop := context.WithCancel(s.watching) // policies share it, and come and go
	next := newInformer(source, mask, s.urlOf(source), stop)
	if err := s.start(inner, next); err != nil {
		stop()
		return err
	}
	s.informers[source] = next
	if have != nil {
		have.stop()
		close(have.replaced)
	}
	return nil
}

// restart reads a source again from the beginning: what its informer has is
// wrong.
func (s *Set) restart(have *informer) {
	for s.watching.Err() == nil {
		s.mu.Lock()
		if s.informers[have.source] != have {
			s.mu.Unlock()
			return // somebody else has, or nobody reads it any more
		}
		err := s.replace(have.source, have.mask, have)
		s.mu.Unlock()
		if err == nil {
			return
		}
		s.options.Log.Error("cannot watch, and will try again", "kind", have.source.Kind, "error", err.Error())
		select {
		case <-s.watching.Done():
		case <-time.After(s.options.Poll):
		}
	}
}

// Wake adds keys to the work queues of their policies.
func (s *Set) Wake(woken []reconcile.Wake) {
	if len(woken) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range woken {
		if q, ok := s.queues[w.Controller.Policy.ID()]; ok {
			q.Add(w.Key)
		}
	}
}
