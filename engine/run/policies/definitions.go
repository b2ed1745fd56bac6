package policies

import (
	"context"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/run/discovery"
)

// outdatedMessage is the message about an old CRD.
const outdatedMessage = "the CRD of PolicySets is older than this controller, and the API server drops the fields that it does not have: apply the new one: edict crd | kubectl apply --server-side --force-conflicts -f -"

// watchDefinitions watches the metadata of CRDs until the context ends. The cache of the manager does not
// have it: without the permission to list CRDs no controller would start.
func (r *Reconciler) watchDefinitions(ctx context.Context) {
	api := r.options.Releaser.Client.Resource(discovery.Definitions)
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return api.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return api.Watch(ctx, o) },
		},
		ObjectType: &metav1.PartialObjectMetadata{},
		Handler:    cache.ResourceEventHandlerFuncs{AddFunc: r.noteDefinition, UpdateFunc: func(_, o any) { r.noteDefinition(o) }, DeleteFunc: r.noteDefinition},
		Transform: func(o any) (any, error) {
			if m, ok := o.(*metav1.PartialObjectMetadata); ok {
				m.ManagedFields, m.Annotations = nil, map[string]string{edictv1.CRDVersionAnnotation: m.Annotations[edictv1.CRDVersionAnnotation]}
			}
			return o, nil
		},
	})
	informer.RunWithContext(ctx)
}

// noteDefinition notes that a CRD has changed, or that the one of PolicySets is old. The sets are reconciled
// again in a moment.
func (r *Reconciler) noteDefinition(o any) {
	r.defined.Store(time.Now().UnixNano())
	m, ok := o.(*metav1.PartialObjectMetadata)
	if !ok || m.Name != "policysets."+edictv1.GroupVersion.Group {
		return
	}
	version, _ := strconv.Atoi(m.Annotations[edictv1.CRDVersionAnnotation]) // without one it is the oldest
	if old := version < edictv1.CRDVersion; !r.outdated.Swap(old) && old {
		r.options.Log.Warn(outdatedMessage)
	}
}
