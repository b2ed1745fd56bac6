package policies

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/source"
)

// unlabelled finds the ConfigMaps that are not read: their label has a wrong value, or
// is gone.
type unlabelled struct {
	client    kubernetes.Interface
	namespace string
	store     *configmap.Store
	// seen are the UIDs of the ConfigMaps that are read, by name; uids also those of
	// ConfigMaps that are gone.
	seen, uids map[string]string
	// names are those of ConfigMaps that were read, or have a status, and are not read
	// now; live are these ConfigMaps as they last were.
	names map[string]bool
	live  map[string]*corev1.ConfigMap
}

func newUnlabelled(client kubernetes.Interface, namespace string, store *configmap.Store) *unlabelled {
	return &unlabelled{
		client: client, namespace: namespace, store: store,
		uids: map[string]string{}, names: map[string]bool{}, live: map[string]*corev1.ConfigMap{},
	}
}

// annotations returns the annotations of a ConfigMap, also of one without a label, and
// its resource version.
func (u *unlabelled) annotations(m *source.ConfigMap) (annotations map[string]string, version string) {
	if annotations, version = u.store.Annotations(m); version != "" {
		return annotations, version
	}
	if bare := u.live[m.Name]; bare != nil {
		return bare.Annotations, bare.ResourceVersion
	}
	return nil, ""
}

// reference returns a reference to a ConfigMap, given as namespace/name; nil for "".
func (u *unlabelled) reference(configMap string) *corev1.ObjectReference {
	if configMap == "" {
		return nil
	}
	name := path.Base(configMap)
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: u.namespace, Name: name, UID: types.UID(u.uids[name])}
}

// reports returns the status of the ConfigMaps that are not read.
func (u *unlabelled) reports(ctx context.Context) (out []statusReport) {
	known := map[string]bool{}
	add := func(m *corev1.ConfigMap) {
		if !known[m.Name] {
			known[m.Name] = true
			out = append(out, statusReport{configMap: configmap.Of(m), status: statusStopped, text: "nothing in it is read: " + configmap.LabelProblem(m), stopped: true})
		}
	}
	for _, m := range u.store.Mislabelled() {
		if u.seen[m.Name] == "" { // otherwise its policies run until the next look
			add(m)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.names)) {
		m, err := u.client.CoreV1().ConfigMaps(u.namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && (configmap.Labelled(m) || m.Annotations[v1alpha1.AnnotationStatus] == statusStopped) {
			delete(u.names, name) // there is nothing more to say
			delete(u.live, name)
			continue
		}
		if err == nil {
			u.live[name] = m
			add(m)
		}
	}
	return out
}

// update notes the ConfigMaps that were read before and are not now: they are gone,
// or have lost their label.
func (u *unlabelled) update(c *source.Catalog) {
	now := map[string]string{}
	for _, contents := range c.Contents {
		now[contents.Name] = contents.UID
	}
	for _, v := range c.Values {
		now[v.Name] = v.UID
	}
	for name := range u.seen {
		if now[name] == "" {
			u.names[name] = true
		}
	}
	for name, uid := range now {
		delete(u.names, name)
		u.uids[name] = uid
	}
	u.seen = now
}

// find notes the ConfigMaps that have a status and no label: they lost it while no
// controller ran.
func (u *unlabelled) find(ctx context.Context) {
	list, err := u.client.CoreV1().ConfigMaps(u.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range list.Items {
		if m := &list.Items[i]; m.Annotations[v1alpha1.AnnotationStatus] != "" && !configmap.Labelled(m) {
			u.names[m.Name] = true
		}
	}
}

// recordStop records an Event about a policy that stops and was not disabled.
func (u *unlabelled) recordStop(recorder record.EventRecorder, id string, was *source.Unit, c *source.Catalog) {
	configMap := path.Dir(was.File.Path)
	if now := c.Units[was.Name()]; now != nil && now.Disabled() || c.Units[plan.ID{Name: was.Name(), Shadow: true}.String()] != nil || c.Stopped(was, was.File.Path, id != was.Name()) {
		return // it was disabled, or its mode has changed
	}
	why := "the ConfigMap is gone, or has lost the label " + v1alpha1.LabelPolicy + "=true"
	if u.seen[path.Base(configMap)] != "" {
		why = "it is no longer in the ConfigMap"
	}
	recorder.Event(u.reference(configMap), corev1.EventTypeWarning, "PolicyStopped", fmt.Sprintf("the policy %s no longer runs: %s", id, why))
}

// recordOrphans records an Event about the orphans of an edit.
func (u *unlabelled) recordOrphans(recorder record.EventRecorder, id string, orphans plan.Orphans, of *source.Unit) {
	recorder.Event(u.reference(path.Dir(of.File.Path)), corev1.EventTypeWarning, "ChildrenOrphaned", fmt.Sprintf("the policy %s %s", id, orphans))
}
