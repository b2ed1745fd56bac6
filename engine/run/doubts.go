package run

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

// suspect notes why what the feed holds may be wrong; "" is that it is not.
func (n *feed) suspect(why string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.doubt = why
}

// doubtful says why what the feed holds may be wrong; "" is that it is not.
func (n *feed) doubtful() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.doubt
}

// suspect reports whether what a policy reads may be out of date: a watch cannot
// be opened, objects are missing in a list that is not confirmed, or the kind is
// being deleted. What is missing then is no reason to remove anything.
func (f *feeds) suspect(c *reconcile.Controller) bool {
	sources := c.Sources()
	if f.known(sources) {
		return true
	}
	for _, source := range sources {
		if f.deleting(source, time.Now()) {
			return true
		}
	}
	return false
}

// known reports whether something is known to be out of date.
func (f *feeds) known(sources []world.Source) bool {
	return len(f.doubts(sources)) > 0 || f.failed(sources)
}

// failed reports whether a watch cannot be opened.
func (f *feeds) failed(sources []world.Source) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(sources, func(source world.Source) bool {
		return f.informers[source] != nil && f.failing[f.urlOf(source)] != nil
	})
}

// doubts says what may be wrong with what is known of sources.
func (f *feeds) doubts(sources []world.Source) (out []string) {
	for _, source := range sources {
		f.mu.Lock()
		informer := f.informers[source]
		f.mu.Unlock() // whoever holds the informer's lock may wait for this one
		if informer == nil {
			continue
		}
		if why := informer.doubtful(); why != "" {
			out = append(out, why)
		}
	}
	return out
}

// deleting reports whether a kind of which objects were just deleted is being
// deleted itself.
func (f *feeds) deleting(source world.Source, now time.Time) bool {
	f.mu.Lock()
	informer := f.informers[source]
	f.mu.Unlock()
	if informer == nil || f.writer == nil {
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
		k.ending = f.ending(f.working, source)
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
func (n *feed) builtin() bool {
	return slices.Contains(schema.BuiltinKinds(n.source.APIVersion), n.source.Kind)
}

var definitions = kschema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// ending reports whether the definition of a kind is being deleted, or is gone.
// What cannot be found out is taken for false.
func (f *feeds) ending(ctx context.Context, source world.Source) bool {
	resource, err := f.writer.Resource(world.ID{GVK: source.GVK})
	if err != nil {
		return true // the cluster no longer serves it
	}
	definition, err := f.writer.Metadata().Resource(definitions).Get(ctx, resource.GroupResource().String(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) { // it is gone, or an API server of its own serves the kind
		_, err := f.list(ctx, source, 1)
		return apierrors.IsNotFound(err)
	}
	return err == nil && definition.DeletionTimestamp != nil
}
