package informers

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

const (
	// deletionsFor is how long after the deletion of an object it is checked whether the
	// kind itself is being deleted, which deletes its objects one by one.
	deletionsFor = 10 * time.Second
	// kindFor is how long the result of that check is used.
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

// Problems returns which of the objects that a policy reads are not up to date, and
// why; "" is none.
func (s *Set) Problems(c *reconcile.Controller, now time.Time) string {
	sources := c.Sources()
	return strings.Join(append(s.faults.texts(s.watchIDs(sources), now), s.staleReasons(sources)...), "\n")
}

// Opened stores that a watch works.
func (s *Set) Opened(id string) { s.faults.remove(id) }

// watchIDs returns the IDs of the watches of sources.
func (s *Set) watchIDs(sources []world.Source) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, source := range sources {
		if s.informers[source] != nil {
			out = append(out, s.watchIDOf(source))
		}
	}
	return out
}

// watchIDOf returns the ID of the watch of a source; "" if the cluster no longer serves
// its kind and it was never watched. The caller holds the lock.
func (s *Set) watchIDOf(source world.Source) string {
	if have := s.informers[source]; have != nil && have.id != "" {
		return have.id
	}
	mapping, err := s.options.Kinds.Mapping(source.GVK)
	if err != nil {
		return ""
	}
	return sourceID(source, mapping.Resource)
}

// watchFailed stores and logs why a source cannot be watched. The informer retries.
func (s *Set) watchFailed(source world.Source, err error) {
	observe.WatchErrors.Inc()
	s.mu.Lock()
	if id := s.watchIDOf(source); s.informers[source] != nil && id != "" {
		s.faults.add(id, source, err, time.Now())
	}
	s.mu.Unlock()
	s.options.Count(plan.WatchError)
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		s.options.Log.Error("a permission is missing: list and watch", "kind", source.Kind, "apiVersion", source.APIVersion, "namespace", source.Namespace, "name", source.Name, "error", err.Error())
		return
	}
	s.options.Log.Warn("a watch failed, and will be opened again", "kind", source.Kind, "error", err.Error())
}

// Stale reports whether what a policy reads may be out of date: a watch cannot
// be opened, objects are missing in a list that is not confirmed, or the kind is
// being deleted. What is missing then is no reason to remove anything.
func (s *Set) Stale(c *reconcile.Controller) bool {
	sources := c.Sources()
	return len(s.staleReasons(sources)) > 0 || s.faults.any(s.watchIDs(sources)) || slices.ContainsFunc(sources, func(source world.Source) bool { return s.deleting(source, time.Now()) })
}

// staleReasons returns why objects of sources may be out of date.
func (s *Set) staleReasons(sources []world.Source) (out []string) {
	for _, source := range sources {
		s.mu.Lock()
		informer := s.informers[source]
		s.mu.Unlock() // a goroutine with the informer's lock may wait for this one
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
	if !k.ending && now.UnixNano()-k.deleted.Load() > int64(deletionsFor) || slices.Contains(schema.BuiltinKinds(informer.source.APIVersion), informer.source.Kind) {
		return false
	}
	if now.Sub(k.looked) > kindFor {
		k.looked = now
		k.ending = s.stored.ending(s.working, source)
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
