package informers

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// informer watches one source.
type informer struct {
	source world.Source
	mask   *value.Mask
	// id is the ID of its watch.
	id   string
	stop context.CancelFunc
	// shared watches the source; version returns at which version it is now.
	shared  toolscache.SharedIndexInformer
	version func(context.Context) (string, error)
	// synced is closed when the first list was handed on, replaced when
	// another informer has taken this one's place.
	synced, replaced chan struct{}

	mu sync.Mutex
	// listed are the names of the first list; nil once it is complete.
	listed map[name2]bool
	// missing are the UIDs of the objects that a new list did not have, resolving
	// reports that this is being checked, and stale is what it means meanwhile.
	missing   map[name2]string
	resolving bool
	stale     string
	kind      kindState
}

func newInformer(source world.Source, mask *value.Mask, id string, stop context.CancelFunc) *informer {
	return &informer{source: source, mask: mask, id: id, stop: stop, synced: make(chan struct{}), replaced: make(chan struct{}), listed: map[name2]bool{}, missing: map[name2]string{}}
}

// note records a name of the first list, and that an object is not missing.
func (i *informer) note(namespace, name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.listed != nil {
		i.listed[name2{namespace, name}] = true
	}
	delete(i.missing, name2{namespace, name})
}

// complete ends the first list. Of the objects that were known before it, those
// that it does not hold are missing; it reports whether there are any.
func (i *informer) complete(known []*world.Object) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, o := range known {
		if name := (name2{o.Namespace, o.Name}); !i.listed[name] {
			i.missing[name] = o.UID
		}
	}
	i.listed = nil
	i.resolving = len(i.missing) > 0
	return i.resolving
}

func (s *Set) start(ctx context.Context, next *informer) error {
	informer, err := s.informer(next)
	if err != nil {
		return err
	}
	registration, err := informer.AddEventHandler(s.handler(ctx, next))
	if err != nil {
		return err
	}
	next.shared = informer
	s.wg.Go(func() { informer.RunWithContext(ctx) })
	s.wg.Go(func() { s.sync(ctx, next, registration) })
	return nil
}

// sync waits until the first list was handed on, and drops what it no longer
// holds.
func (s *Set) sync(ctx context.Context, next *informer, registration toolscache.ResourceEventHandlerRegistration) {
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return
	}
	known := s.options.Store.Snapshot().Table(next.source).All()
	switch {
	case next.complete(known):
		s.missing.resolve(ctx, next)
	case len(known) == 0 && !s.missing.confirmEmpty(ctx, next.source):
		s.options.Log.Error("the first list was wrong: a second one has objects, so all is read again", "kind", next.source.Kind)
		s.restart(next)
	}
	if ctx.Err() != nil {
		return // another one has taken its place
	}
	close(next.synced)
	s.options.Log.Debug("watching", "kind", next.source.Kind, "namespace", next.source.Namespace, "name", next.source.Name, "selector", next.source.Selector)
}

// informer makes an informer for one source. What it stores is the read model's
// own object, so nothing is kept twice.
func (s *Set) informer(next *informer) (toolscache.SharedIndexInformer, error) {
	mapping, err := s.options.Kinds.Mapping(next.source.GVK)
	if err != nil {
		return nil, err
	}
	client, err := s.client(next, mapping.Resource)
	if err != nil {
		return nil, err
	}
	next.version = client.version
	informer := client.informer()
	return informer, informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *toolscache.Reflector, err error) {
		s.watchFailed(next.source, err)
		toolscache.DefaultWatchErrorHandler(ctx, r, err)
	})
}

// narrow makes a list or a watch one of the source's objects.
func (i *informer) narrow(options *metav1.ListOptions) {
	options.LabelSelector = i.source.Selector
	if i.source.Name != "" { // a role may permit this name only
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, i.source.Name).String()
	}
}

func (s *Set) handler(ctx context.Context, next *informer) toolscache.ResourceEventHandler {
	put := func(raw any) {
		if o := ObjectOf(raw); o != nil && ctx.Err() == nil {
			next.note(o.Namespace, o.Name)
			s.options.Queues.Wake(s.options.Group.PutObject(ctx, next.source, o))
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    put,
		UpdateFunc: func(_, now any) { put(now) },
		DeleteFunc: func(raw any) {
			gone, missing := raw.(toolscache.DeletedFinalStateUnknown)
			if missing {
				raw = gone.Obj
			}
			o := ObjectOf(raw)
			switch {
			case o == nil || ctx.Err() != nil:
			case missing:
				s.missing.add(ctx, next, o)
			default:
				next.kind.deleted.Store(time.Now().UnixNano())
				s.options.Queues.Wake(s.options.Group.Delete(ctx, next.source, o.Namespace, o.Name))
			}
		},
	}
}
