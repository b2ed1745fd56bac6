package run

import (
	"context"
	"fmt"
	"slices"
	"time"

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
			informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = label + "=true" }))
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

// catalog reads what the ConfigMaps say now. What was read before and has not
// changed is taken from a cache.
func (s *shelf) catalog(read *readings, typed compile.Overrides) (*source.Catalog, error) {
	policies, err := s.policies.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	params, err := s.params.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	var contents []*source.Contents
	var values []*source.Values
	for _, m := range policies {
		contents = append(contents, read.policies(m))
	}
	for _, m := range params {
		values = append(values, configMap(m).ReadParams())
	}
	read.sweep()
	return source.NewCatalog(contents, values, typed), nil
}

// annotations are those that a ConfigMap has.
func (s *shelf) annotations(m *source.ConfigMap) map[string]string {
	for _, lister := range []listers.ConfigMapLister{s.policies, s.params} {
		if live, err := lister.ConfigMaps(m.Namespace).Get(m.Name); err == nil {
			return live.Annotations
		}
	}
	return nil
}

// configMap takes over what matters of a ConfigMap.
func configMap(m *corev1.ConfigMap) *source.ConfigMap {
	return &source.ConfigMap{
		Namespace: m.Namespace, Name: m.Name, UID: string(m.UID), Created: m.CreationTimestamp.Time, Data: m.Data,
		Mode: m.Annotations[v1alpha1.AnnotationMode], Binary: len(m.BinaryData) > 0,
	}
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

// library keeps the policies of the ConfigMaps running.
type library struct {
	*term
	client   kubernetes.Interface
	shelf    *shelf
	readings readings
	judge    judge
	store    *revisionStore
	// wake holds an item when something may have changed.
	wake chan struct{}
	// adopted are the units that were handed to their runners, by ID.
	adopted map[string]*source.Unit
	// verdicts are those of the present units, by ID.
	verdicts map[string]*verdict
	told     *notices
	first    bool
}

// gather is how long changes are gathered: an edit of several ConfigMaps is
// taken as one.
const gather = 20 * time.Millisecond

// follow runs the policies of the ConfigMaps of a namespace.
func (t *term) follow() {
	t.setReady("", false) // the ConfigMaps themselves are not read yet
	l := &library{term: t, wake: make(chan struct{}, 1), adopted: map[string]*source.Unit{}, verdicts: map[string]*verdict{}, first: true}
	t.changed = l.nudge
	t.term.Store(t)
	t.wg.Go(func() {
		if err := l.run(t.watching); err != nil && t.watching.Err() == nil {
			t.Log.Error("policies cannot be followed", "namespace", t.PolicyNamespace, "error", err.Error())
		}
	})
}

func (l *library) nudge() {
	select {
	case l.wake <- struct{}{}:
	default: // there is one already
	}
}

func (l *library) run(ctx context.Context) error {
	client, err := kubernetes.NewForConfigAndClient(l.Config, l.http)
	if err != nil {
		return err
	}
	l.client, l.judge = client, judge{process: l.process}
	l.store, l.told = newRevisionStore(l.process, client), newNotices(l.process, client)
	if l.shelf, err = newShelf(ctx, client, l.PolicyNamespace, l.nudge); err != nil {
		return err
	}
	if !cache.WaitForCacheSync(ctx.Done(), l.shelf.synced...) {
		return ctx.Err()
	}
	if err := l.store.read(ctx); err != nil {
		l.Log.Error("the last good revisions cannot be read", "error", err.Error())
	}
	for {
		if err := l.look(ctx); err != nil {
			l.Log.Error("the policies cannot be brought up to date, and will be tried again", "error", err.Error())
			time.AfterFunc(time.Second, l.nudge)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(gather):
		}
	}
}

// look brings the running policies up to what the ConfigMaps say, and says in
// them what has become of it.
func (l *library) look(ctx context.Context) error {
	select { // what woke us is looked at now
	case <-l.wake:
	default:
	}
	catalog, err := l.shelf.catalog(&l.readings, l.typed())
	if err != nil {
		return err
	}
	l.verdicts = l.judge.all(ctx, catalog, l.verdicts)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.dispatch(catalog)
	l.setReady("", true)
	l.store.keep(ctx, catalog, l.verdicts)
	l.told.publish(ctx, l.notes(catalog), l.shelf.annotations)
	return nil
}

func (l *library) typed() compile.Overrides {
	return compile.TypedOverrides(l.Params, source.Typed)
}

// dispatch hands what has changed to the runners, and stops those that are not
// wanted any more.
func (l *library) dispatch(catalog *source.Catalog) {
	var fresh []*revision
	wanted := map[string]bool{}
	for _, id := range l.known(catalog) {
		rev := l.wanted(id, catalog)
		if rev == nil {
			continue
		}
		wanted[id] = true
		if !rev.unit.Same(l.adopted[id]) {
			fresh = append(fresh, rev)
			l.adopted[id] = rev.unit
		}
	}
	for _, id := range sortedKeys(l.adopted) {
		if !wanted[id] {
			delete(l.adopted, id)
			l.drop(id)
		}
	}
	if l.first {
		l.first = false
		l.adoptAll(fresh)
		return
	}
	for _, rev := range fresh {
		l.adopt(rev, func() {})
	}
}

// known gives the IDs of all policies that were ever heard of and not taken
// away.
func (l *library) known(c *source.Catalog) []string {
	all := map[string]bool{}
	for id := range c.Units {
		all[id] = true
	}
	for id := range l.adopted {
		all[id] = true
	}
	for id := range l.store.kept {
		all[id] = true
	}
	return sortedKeys(all)
}

// wanted gives the revision of a policy that shall run: the one that its
// ConfigMap holds, or where that is refused the last good one. Nil is none.
func (l *library) wanted(id string, c *source.Catalog) *revision {
	v, now := l.verdicts[id], l.adopted[id]
	switch {
	case v != nil && v.disabled():
		return nil
	case v != nil && v.good():
		return &v.revision
	case now != nil && (v != nil || c.Unreadable(now.File.Path)):
		return &revision{unit: now} // it goes on
	case now == nil && (v != nil || c.Unreadable(l.store.kept[id].copy.File)):
		return l.store.lastGood(id, l.judge)
	default:
		return nil
	}
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
