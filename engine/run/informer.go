package run

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// feed is the informer of one source.
type feed struct {
	source world.Source
	mask   *value.Mask
	// id tells its watch from others; see watchID.
	id   string
	stop context.CancelFunc
	// informer watches the source, client asks for its objects.
	informer toolscache.SharedIndexInformer
	client   dynamic.ResourceInterface
	// synced is closed when the first list was handed on, replaced when
	// another informer has taken this one's place.
	synced, replaced chan struct{}

	mu sync.Mutex
	// listed are the names of the first list; nil once it is complete.
	listed map[name2]bool
	// lost are the UIDs of the objects that a new list did not hold, judging says
	// that it is being found out why, and doubt what that means meanwhile.
	lost    map[name2]string
	judging bool
	doubt   string
	kind    kindState
}

func newFeed(source world.Source, mask *value.Mask, id string, stop context.CancelFunc) *feed {
	return &feed{source: source, mask: mask, id: id, stop: stop, synced: make(chan struct{}), replaced: make(chan struct{}), listed: map[name2]bool{}, lost: map[name2]string{}}
}

// note records a name of the first list, and that an object is not missing.
func (n *feed) note(namespace, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listed != nil {
		n.listed[name2{namespace, name}] = true
	}
	delete(n.lost, name2{namespace, name})
}

// complete ends the first list. Of the objects that were known before it, those
// that it does not hold are missing; it reports whether there are any.
func (n *feed) complete(known []*world.Object) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range known {
		if name := (name2{o.Namespace, o.Name}); !n.listed[name] {
			n.lost[name] = o.UID
		}
	}
	n.listed = nil
	n.judging = len(n.lost) > 0
	return n.judging
}

func (f *feeds) start(ctx context.Context, next *feed) error {
	informer, err := f.informer(next)
	if err != nil {
		return err
	}
	registration, err := informer.AddEventHandler(f.handler(ctx, next))
	if err != nil {
		return err
	}
	next.informer = informer
	f.wg.Go(func() { informer.RunWithContext(ctx) })
	f.wg.Go(func() { f.sync(ctx, next, registration) })
	return nil
}

// sync waits until the first list was handed on, and drops what it no longer
// holds.
func (f *feeds) sync(ctx context.Context, next *feed, registration toolscache.ResourceEventHandlerRegistration) {
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return
	}
	known := f.store.Snapshot().Table(next.source).All()
	switch {
	case next.complete(known):
		f.judge(ctx, next)
	case len(known) == 0 && !f.empty(ctx, next.source):
		f.Log.Error("the first list was wrong: a second one has objects, so all is read again", "kind", next.source.Kind)
		f.restart(next)
	}
	if ctx.Err() != nil {
		return // another one has taken its place
	}
	f.store.MarkReady(next.source)
	close(next.synced)
	f.Log.Debug("watching", "kind", next.source.Kind, "namespace", next.source.Namespace, "name", next.source.Name, "selector", next.source.Selector)
}

// informer makes an informer for one source. What it stores is the read model's
// own object, so nothing is kept twice.
func (f *feeds) informer(next *feed) (toolscache.SharedIndexInformer, error) {
	gvk := groupVersionKind(next.source.GVK)
	mapping, err := f.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfigAndClient(f.Config, f.http)
	if err != nil {
		return nil, err
	}
	next.client = client.Resource(mapping.Resource)
	if next.source.Namespace != "" {
		next.client = client.Resource(mapping.Resource).Namespace(next.source.Namespace)
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, mapping.Resource, next.source.Namespace, 0, nil, next.narrow).Informer()
	return informer, errors.Join(informer.SetTransform(f.transform(next)), informer.SetWatchErrorHandlerWithContext(
		func(ctx context.Context, r *toolscache.Reflector, err error) {
			f.watchFailed(next.source, err)
			toolscache.DefaultWatchErrorHandler(ctx, r, err)
		}))
}

// narrow makes a list or a watch one of the source's objects.
func (n *feed) narrow(options *metav1.ListOptions) {
	options.LabelSelector = n.source.Selector
	if n.source.Name != "" { // whoever may list nothing but this name may list it so
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, n.source.Name).String()
	}
}

// watchFailed says why a source cannot be watched; it is tried again. A
// missing permission is for a person to mend.
func (f *feeds) watchFailed(source world.Source, err error) {
	observe.WatchErrors.Inc()
	f.fault(source, err, time.Now())
	f.exports.watch(plan.WatchError)
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		f.Log.Error("a permission is missing: list and watch", "kind", source.Kind, "apiVersion", source.APIVersion, "namespace", source.Namespace, "name", source.Name, "error", err.Error())
		return
	}
	f.Log.Warn("a watch failed, and will be opened again", "kind", source.Kind, "error", err.Error())
}

// transform freezes the parts of an object that are read.
func (f *feeds) transform(next *feed) toolscache.TransformFunc {
	schemas := f.group.Schemas()
	return func(raw any) (any, error) {
		u, ok := raw.(*unstructured.Unstructured)
		if !ok {
			return raw, nil
		}
		return &cached{object: reconcile.Read(next.source, u.Object, schemas.Of(next.source.GVK), next.mask)}, nil
	}
}

func (f *feeds) handler(ctx context.Context, next *feed) toolscache.ResourceEventHandler {
	put := func(raw any) {
		if c, ok := raw.(*cached); ok && ctx.Err() == nil {
			next.note(c.object.Namespace, c.object.Name)
			f.wake(f.group.PutObject(ctx, next.source, c.object))
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
			c, ok := raw.(*cached)
			switch {
			case !ok || ctx.Err() != nil:
			case missing:
				f.lose(ctx, next, c.object)
			default:
				next.kind.deleted.Store(time.Now().UnixNano())
				f.wake(f.group.Delete(ctx, next.source, c.object.Namespace, c.object.Name))
			}
		},
	}
}
