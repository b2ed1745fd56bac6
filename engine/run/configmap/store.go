package configmap

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/source"
)

// Store has the ConfigMaps of a namespace that hold policies or params, as a watch
// shows them.
type Store struct {
	// What has one of the labels, also with another value than "true".
	policies, params listers.ConfigMapLister
	synced           []cache.InformerSynced
}

// NewStore watches the ConfigMaps of a namespace until the context ends, and calls
// changed after each change.
func NewStore(ctx context.Context, client kubernetes.Interface, namespace string, changed func()) (*Store, error) {
	s := &Store{}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
	}
	for label, lister := range map[string]*listers.ConfigMapLister{v1alpha1.LabelPolicy: &s.policies, v1alpha1.LabelParams: &s.params} {
		informer := informers.NewFilteredConfigMapInformer(client, namespace, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			func(o *metav1.ListOptions) { o.LabelSelector = label })
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return nil, err
		}
		*lister = listers.NewConfigMapLister(informer.GetIndexer())
		s.synced = append(s.synced, registration.HasSynced)
		go informer.RunWithContext(ctx)
	}
	return s, nil
}

// Wait waits for the first lists, and reports whether they were read.
func (s *Store) Wait(ctx context.Context) bool {
	return cache.WaitForCacheSync(ctx.Done(), s.synced...)
}

// Ready reports whether the first lists were read.
func (s *Store) Ready() bool {
	return !slices.ContainsFunc(s.synced, func(synced cache.InformerSynced) bool { return !synced() })
}

// With returns the catalog as it would be with a ConfigMap changed.
func (s *Store) With(m *corev1.ConfigMap, typed compile.Overrides) (*source.Catalog, error) {
	policies, params, err := s.lists()
	if err != nil {
		return nil, err
	}
	return newCatalog(replaced(policies, m, v1alpha1.LabelPolicy), replaced(params, m, v1alpha1.LabelParams), &Cache{}, typed), nil
}

// Without returns the catalog as it would be without a ConfigMap.
func (s *Store) Without(m *corev1.ConfigMap, typed compile.Overrides) (*source.Catalog, error) {
	gone := m.DeepCopy()
	gone.Labels = nil
	return s.With(gone, typed)
}

// replaced returns a list with a ConfigMap in its new state, if it belongs there.
func replaced(list []*corev1.ConfigMap, m *corev1.ConfigMap, label string) []*corev1.ConfigMap {
	list = slices.DeleteFunc(slices.Clone(list), func(other *corev1.ConfigMap) bool { return other.Namespace == m.Namespace && other.Name == m.Name })
	if m.Labels[label] != "true" {
		return list
	}
	if m.CreationTimestamp.IsZero() { // it is about to be made: the youngest
		m.CreationTimestamp = metav1.Now()
	}
	return append(list, m)
}

func (s *Store) lists() (policies, params []*corev1.ConfigMap, err error) {
	if policies, err = s.policies.List(chosen(v1alpha1.LabelPolicy)); err != nil {
		return nil, nil, err
	}
	params, err = s.params.List(chosen(v1alpha1.LabelParams))
	return policies, params, err
}

// chosen selects the ConfigMaps whose label is right.
func chosen(label string) labels.Selector { return labels.SelectorFromSet(labels.Set{label: "true"}) }

// Mislabelled returns the ConfigMaps that have one of the labels with another value
// than "true": nothing in them is read.
func (s *Store) Mislabelled() (out []*corev1.ConfigMap) {
	for _, lister := range []listers.ConfigMapLister{s.policies, s.params} {
		list, err := lister.List(labels.Everything())
		if err != nil { // the cache does not fail
			return nil
		}
		for _, m := range list {
			if !Labelled(m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// Policies returns the ConfigMaps of policies.
func (s *Store) Policies() []*corev1.ConfigMap {
	list, err := s.policies.List(chosen(v1alpha1.LabelPolicy))
	if err != nil { // the cache does not fail
		return nil
	}
	return list
}

// Catalog returns the contents of the ConfigMaps. What was read before and has not
// changed is taken from a cache.
func (s *Store) Catalog(read *Cache, typed compile.Overrides) (*source.Catalog, error) {
	policies, params, err := s.lists()
	if err != nil {
		return nil, err
	}
	return newCatalog(policies, params, read, typed), nil
}

func newCatalog(policies, params []*corev1.ConfigMap, read *Cache, typed compile.Overrides) *source.Catalog {
	var contents []*source.Contents
	var values []*source.Values
	for _, m := range policies {
		contents = append(contents, read.policies(m))
	}
	var both []*source.ConfigMap
	for _, m := range params {
		if m.Labels[v1alpha1.LabelPolicy] == "true" {
			both = append(both, Of(m))
			continue
		}
		values = append(values, Of(m).ReadParams())
	}
	read.sweep()
	c := source.NewCatalog(contents, values, typed)
	for _, m := range both {
		c.Conflicts[m.Path()] = append(c.Conflicts[m.Path()], m.BothLabels())
	}
	return c
}

// Annotations returns the annotations of a ConfigMap and its resource version; "" if
// it is not in the store.
func (s *Store) Annotations(m *source.ConfigMap) (annotations map[string]string, version string) {
	for _, lister := range []listers.ConfigMapLister{s.policies, s.params} {
		if live, err := lister.ConfigMaps(m.Namespace).Get(m.Name); err == nil {
			return live.Annotations, live.ResourceVersion
		}
	}
	return nil, ""
}

// Results returns what the controller has noted of the ConfigMaps: what it has observed,
// which revisions are in force, and whether it waits for something, by UID. What fails of them
// is not in it.
func (s *Store) Results() (map[string]string, error) {
	policies, params, err := s.lists()
	out := map[string]string{}
	for _, m := range slices.Concat(policies, params) {
		waits := m.Annotations[v1alpha1.AnnotationStatus] == v1alpha1.StatusWaiting
		out[string(m.UID)] = fmt.Sprintln(m.Annotations[v1alpha1.AnnotationObserved], m.Annotations[v1alpha1.AnnotationPolicies], waits)
	}
	return out, err
}

// Cache keeps the contents of ConfigMaps from one catalog to the next. Its zero value
// is empty.
type Cache struct{ before, now map[string]*source.Contents }

// policies reads a ConfigMap of policies.
func (r *Cache) policies(m *corev1.ConfigMap) *source.Contents {
	c := Of(m)
	id := fmt.Sprint(c.UID, c.Revision(), c.Mode, c.Rollout, c.Binary)
	contents := r.before[id]
	if contents == nil {
		contents = c.Read()
	}
	if r.now == nil {
		r.now = map[string]*source.Contents{}
	}
	r.now[id] = contents
	return contents
}

// sweep drops the contents of ConfigMaps that are gone.
func (r *Cache) sweep() { r.before, r.now = r.now, nil }
