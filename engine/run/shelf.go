package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/source"
)

// shelf is the ConfigMaps of a namespace that hold policies or params.
type shelf struct {
	// What has one of the labels, also with another value than "true".
	policies, params listers.ConfigMapLister
	synced           []cache.InformerSynced
}

// newShelf watches the ConfigMaps of a namespace until the context ends, and
// calls changed after each change.
func newShelf(ctx context.Context, client kubernetes.Interface, namespace string, changed func()) (*shelf, error) {
	s := &shelf{}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
	}
	for label, lister := range map[string]*listers.ConfigMapLister{v1alpha1.LabelPolicy: &s.policies, v1alpha1.LabelParams: &s.params} {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = label }))
		informer := factory.Core().V1().ConfigMaps()
		registration, err := informer.Informer().AddEventHandler(handler)
		if err != nil {
			return nil, err
		}
		*lister = informer.Lister()
		s.synced = append(s.synced, registration.HasSynced)
		factory.Start(ctx.Done())
	}
	return s, nil
}

// ready reports whether the first lists were read.
func (s *shelf) ready() bool {
	return !slices.ContainsFunc(s.synced, func(synced cache.InformerSynced) bool { return !synced() })
}

// with is the catalog as it would be with a ConfigMap changed.
func (s *shelf) with(m *corev1.ConfigMap, typed compile.Overrides) (*source.Catalog, error) {
	policies, params, err := s.lists()
	if err != nil {
		return nil, err
	}
	return newCatalog(replaced(policies, m, v1alpha1.LabelPolicy), replaced(params, m, v1alpha1.LabelParams), &readings{}, typed), nil
}

// without is the catalog as it would be without a ConfigMap.
func (s *shelf) without(m *corev1.ConfigMap, typed compile.Overrides) (*source.Catalog, error) {
	gone := m.DeepCopy()
	gone.Labels = nil
	return s.with(gone, typed)
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

func (s *shelf) lists() (policies, params []*corev1.ConfigMap, err error) {
	if policies, err = s.policies.List(chosen(v1alpha1.LabelPolicy)); err != nil {
		return nil, nil, err
	}
	params, err = s.params.List(chosen(v1alpha1.LabelParams))
	return policies, params, err
}

// chosen selects the ConfigMaps whose label is right.
func chosen(label string) labels.Selector { return labels.SelectorFromSet(labels.Set{label: "true"}) }

// strays returns the ConfigMaps that have one of the labels with another value
// than "true": nothing in them is read.
func (s *shelf) strays() (out []*corev1.ConfigMap) {
	for _, lister := range []listers.ConfigMapLister{s.policies, s.params} {
		list, err := lister.List(labels.Everything())
		if err != nil { // the cache does not fail
			return nil
		}
		for _, m := range list {
			if !labelled(m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// all returns the ConfigMaps of policies.
func (s *shelf) all() []*corev1.ConfigMap {
	list, err := s.policies.List(chosen(v1alpha1.LabelPolicy))
	if err != nil { // the cache does not fail
		return nil
	}
	return list
}

// catalog reads what the ConfigMaps say now. What was read before and has not
// changed is taken from a cache.
func (s *shelf) catalog(read *readings, typed compile.Overrides) (*source.Catalog, error) {
	policies, params, err := s.lists()
	if err != nil {
		return nil, err
	}
	return newCatalog(policies, params, read, typed), nil
}

func newCatalog(policies, params []*corev1.ConfigMap, read *readings, typed compile.Overrides) *source.Catalog {
	var contents []*source.Contents
	var values []*source.Values
	for _, m := range policies {
		contents = append(contents, read.policies(m))
	}
	for _, m := range params {
		values = append(values, configMap(m).ReadParams())
	}
	read.sweep()
	return source.NewCatalog(contents, values, typed)
}

// annotations are those that a ConfigMap has, as the cache shows it.
func (s *shelf) annotations(m *source.ConfigMap) (annotations map[string]string, version string) {
	for _, lister := range []listers.ConfigMapLister{s.policies, s.params} {
		if live, err := lister.ConfigMaps(m.Namespace).Get(m.Name); err == nil {
			return live.Annotations, live.ResourceVersion
		}
	}
	return nil, ""
}

// configMap takes over what matters of a ConfigMap.
func configMap(m *corev1.ConfigMap) *source.ConfigMap {
	return &source.ConfigMap{
		Namespace: m.Namespace, Name: m.Name, UID: string(m.UID), Created: m.CreationTimestamp.Time, Data: m.Data,
		Mode: m.Annotations[v1alpha1.AnnotationMode], Binary: sortedKeys(m.BinaryData), Edits: editsOf(m),
	}
}

// editsOf returns which field manager last wrote each key of a ConfigMap.
func editsOf(m *corev1.ConfigMap) map[string]source.Edit {
	out := map[string]source.Edit{}
	for _, f := range m.ManagedFields {
		var owned struct {
			Data map[string]json.RawMessage `json:"f:data"`
		}
		if f.FieldsV1 == nil || f.Time == nil || json.Unmarshal(f.FieldsV1.GetRawBytes(), &owned) != nil {
			continue
		}
		for field := range owned.Data {
			key := strings.TrimPrefix(field, "f:")
			if e, known := out[key]; !known || f.Time.After(e.At) {
				out[key] = source.Edit{Manager: f.Manager, At: f.Time.Time}
			}
		}
	}
	return out
}

// readings keeps what was read of ConfigMaps.
type readings struct{ before, now map[string]*source.Contents }

// policies reads a ConfigMap of policies.
func (r *readings) policies(m *corev1.ConfigMap) *source.Contents {
	c := configMap(m)
	id := fmt.Sprint(c.UID, c.Revision(), c.Mode, c.Binary)
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

// sweep forgets what is no longer there.
func (r *readings) sweep() { r.before, r.now = r.now, nil }
