package brakes

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/brake"
)

// Store has the state of the brakes in ConfigMaps: pauses, which outlive the process,
// and holds.
type Store struct {
	client    kubernetes.Interface
	namespace string
	log       *slog.Logger
	lister    listers.ConfigMapLister
	synced    cache.InformerSynced
	// complained is when it was last logged that it cannot be written.
	complained time.Time
}

// NewStore watches the ConfigMaps in a namespace until the context ends, and calls
// changed after each change.
func NewStore(ctx context.Context, client kubernetes.Interface, namespace string, log *slog.Logger, changed func()) (*Store, error) {
	informer := informers.NewFilteredConfigMapInformer(client, namespace, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		func(o *metav1.ListOptions) { o.LabelSelector = brake.LabelBrakes + "=true" })
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
	})
	if err != nil {
		return nil, err
	}
	go informer.RunWithContext(ctx)
	return &Store{client: client, namespace: namespace, log: log, lister: listers.NewConfigMapLister(informer.GetIndexer()), synced: registration.HasSynced}, nil
}

// get returns one of the ConfigMaps; nil if there is none.
func (s *Store) get(name string) *corev1.ConfigMap {
	m, err := s.lister.ConfigMaps(s.namespace).Get(name)
	if err != nil { // the cache does not fail otherwise
		return nil
	}
	return m
}

// view is what a Store has at one moment. What follows from it is written only if the
// cluster still has the same: a person may have resumed a policy meanwhile, or another
// replica have paused one.
type view struct {
	store *Store
	// configMaps are by name; nil is one that there is not.
	configMaps map[string]*corev1.ConfigMap
}

// view returns what the cache has now.
func (s *Store) view() *view {
	return &view{s, map[string]*corev1.ConfigMap{brake.RecordsName: s.get(brake.RecordsName), brake.HoldsName: s.get(brake.HoldsName)}}
}

// records returns the records of the policies.
func (v *view) records() map[string]brake.Record {
	out := map[string]brake.Record{}
	m := v.configMaps[brake.RecordsName]
	if m == nil {
		return out
	}
	for policy, text := range m.Data {
		r, err := brake.ParseRecord(policy, text)
		if err != nil {
			v.store.complain(err)
			continue
		}
		out[policy] = r
	}
	return out
}

// holds returns what people hold. One that cannot be read holds nothing.
func (v *view) holds() (out []brake.Hold) {
	m := v.configMaps[brake.HoldsName]
	if m == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.Data)) {
		h, err := brake.ParseHold(name, m.Data[name])
		if err != nil {
			v.store.complain(err)
			continue
		}
		out = append(out, h)
	}
	return out
}

// write writes keys of one of the ConfigMaps, unless it is another one now; "" removes
// one. It makes the ConfigMap if there is none, and reports whether all is written.
func (v *view) write(ctx context.Context, name string, data map[string]string) bool {
	m := v.configMaps[name]
	changes := map[string]any{}
	for key, text := range data {
		switch {
		case m != nil && m.Data[key] == text || m == nil && text == "":
		case text == "":
			changes[key] = nil
		default:
			changes[key] = text
		}
	}
	if len(changes) == 0 {
		return true
	}
	err := v.store.send(ctx, m, name, changes)
	if err == nil {
		return true
	}
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
		v.store.complain(err)
	}
	return false
}

func (s *Store) send(ctx context.Context, m *corev1.ConfigMap, name string, changes map[string]any) error {
	api := s.client.CoreV1().ConfigMaps(s.namespace)
	if m == nil {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{brake.LabelBrakes: "true"}}, Data: map[string]string{}}
		for key, text := range changes {
			made.Data[key], _ = text.(string)
		}
		_, err := api.Create(ctx, made, metav1.CreateOptions{FieldManager: apply.FieldManager})
		return err
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": m.ResourceVersion, "uid": m.UID}, "data": changes})
	if err != nil {
		return err
	}
	_, err = api.Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: apply.FieldManager})
	return err
}

// complain logs an error of the store, at most once a minute.
func (s *Store) complain(err error) {
	if time.Since(s.complained) < time.Minute {
		return
	}
	s.complained = time.Now()
	s.log.Error("what the brakes know cannot be kept, so a pause would be forgotten when this process ends; the chart makes the ConfigMaps for it", "namespace", s.namespace, "error", err.Error())
}
