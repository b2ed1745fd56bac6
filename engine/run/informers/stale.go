package informers

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

const (
	// deletionsFor is how long after a deletion it is looked whether the kind
	// itself is being deleted, which deletes its objects one by one.
	deletionsFor = 10 * time.Second
	// kindFor is how long what was found out about a kind is taken for true.
	kindFor = time.Second
)

// setStale stores why the objects may be out of date; "" is that they are not.
func (i *informer) setStale(why string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stale = why
}

// staleReason returns why the objects may be out of date; "" is that they are not.
func (i *informer) staleReason() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stale
}

// Stale reports whether what a policy reads may be out of date: a watch cannot
// be opened, objects are missing in a list that is not confirmed, or the kind is
// being deleted. What is missing then is no reason to remove anything.
func (s *Set) Stale(c *reconcile.Controller) bool {
	sources := c.Sources()
	if s.knownStale(sources) {
		return true
	}
	for _, source := range sources {
		if s.deleting(source, time.Now()) {
			return true
		}
	}
	return false
}

// knownStale reports whether something is known to be out of date.
func (s *Set) knownStale(sources []world.Source) bool {
	return len(s.staleReasons(sources)) > 0 || s.anyFault(sources)
}

// failed reports whether a watch cannot be opened.
func (s *Set) anyFault(sources []world.Source) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(sources, func(source world.Source) bool {
		return s.informers[source] != nil && s.failing[s.urlOf(source)] != nil
	})
}

// staleReasons returns why objects of sources may be out of date.
func (s *Set) staleReasons(sources []world.Source) (out []string) {
	for _, source := range sources {
		s.mu.Lock()
		informer := s.informers[source]
		s.mu.Unlock() // whoever holds the informer's lock may wait for this one
		if informer == nil {
			continue
		}
		if why := informer.staleReason(); why != "" {
			out = append(out, why)
		}
	}
	return out
}

// deleting reports whether a kind of which objects were just deleted is being
// deleted itself.
func (s *Set) deleting(source world.Source, now time.Time) bool {
	s.mu.Lock()
	informer := s.informers[source]
	s.mu.Unlock()
	if informer == nil || s.options.Writer == nil {
		return false
	}
	k := &informer.kind
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ending && now.UnixNano()-k.deleted.Load() > int64(deletionsFor) || informer.builtin() {
		return false
	}
	if now.Sub(k.looked) > kindFor {
		k.looked = now
		k.ending = s.ending(s.working, source)
	}
	return k.ending
}

// kindState is whether a kind is being deleted.
type kindState struct {
	// deleted is when the last deletion of an object was seen, in nanoseconds.
	deleted atomic.Int64

	mu     sync.Mutex
	ending bool
	looked time.Time
}

// builtin reports whether the kind is one that every cluster has.
func (i *informer) builtin() bool {
	return slices.Contains(schema.BuiltinKinds(i.source.APIVersion), i.source.Kind)
}

var definitions = kschema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// ending reports whether the definition of a kind is being deleted, or is gone.
// What cannot be found out is taken for false.
func (s *Set) ending(ctx context.Context, source world.Source) bool {
	resource, err := s.options.Writer.Resource(world.ID{GVK: source.GVK})
	if err != nil {
		return true // the cluster no longer serves it
	}
	definition, err := s.options.Writer.Metadata().Resource(definitions).Get(ctx, resource.GroupResource().String(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) { // it is gone, or an API server of its own serves the kind
		_, err := s.list(ctx, source, 1)
		return apierrors.IsNotFound(err)
	}
	return err == nil && definition.DeletionTimestamp != nil
}
