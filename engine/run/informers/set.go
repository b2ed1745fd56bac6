// Package informers watches what policies read, and keeps the read model up to date.
// It decides whether an object that is missing in a new list was deleted, and reports
// what may be out of date.
package informers

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"

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
	// watching ends the informers, working the requests under way.
	watching, working context.Context

	mu        sync.Mutex
	informers map[world.Source]*informer
	faults    faults
	stored    stored
	missing   *missing
	// members is held while the sources that are read change.
	members sync.Mutex
	wg      sync.WaitGroup
}

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
	// Queues are the work queues of the policies.
	Queues *Queues
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
	s := &Set{options: o, watching: watching, working: working, informers: map[world.Source]*informer{}, stored: stored{o.Writer}}
	s.missing = &missing{options: &s.options, stored: s.stored, restart: s.restart, background: s.wg.Go}
	return s
}

// Start follows the progress and the versions of the watches.
func (s *Set) Start() {
	versions, progress := &versions{options: &s.options, informers: s.all}, &progress{options: &s.options, listed: s.listed}
	s.wg.Go(func() { versions.follow(s.watching) })
	s.wg.Go(func() { progress.follow(s.watching) })
}

// Go runs a function that Wait waits for.
func (s *Set) Go(do func()) { s.wg.Go(do) }

// Wait waits until all informers have ended.
func (s *Set) Wait() { s.wg.Wait() }

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
		s.faults.remove(informer.id)
		delete(s.informers, source)
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
	return !slices.ContainsFunc(sources, func(source world.Source) bool { return !s.await(ctx, source) })
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

// ensure starts the informer of a source. It starts another one if the present one
// keeps fewer fields than are read now.
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
	inner, stop := context.WithCancel(s.watching) // policies share it
	next := newInformer(source, mask, s.watchIDOf(source), stop)
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

// restart reads a source again from scratch: what its informer has is wrong.
func (s *Set) restart(have *informer) {
	for s.watching.Err() == nil {
		s.mu.Lock()
		if s.informers[have.source] != have {
			s.mu.Unlock()
			return // it was replaced, or no policy reads it any more
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

// all returns the informers.
func (s *Set) all() []*informer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.informers))
}

// listed returns the informers whose first list was handed on.
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
