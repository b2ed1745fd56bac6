package run

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/source"
)

// ending returns the policies of a ConfigMap that run now and would not run any
// more after it has changed to now, or was deleted if now is nil.
func (a *admission) ending(before, now *corev1.ConfigMap) ([]string, error) {
	if before == nil || before.Labels[v1alpha1.LabelPolicy] != "true" {
		return nil, nil
	}
	old, err := a.shelf.with(before, a.typed())
	if err != nil {
		return nil, err
	}
	next, err := a.shelf.without(before, a.typed())
	if now != nil {
		next, err = a.shelf.with(now, a.typed())
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range sortedKeys(old.Units) {
		u := old.Units[id]
		mine := old.Origins[id].Path() == before.Namespace+"/"+before.Name
		if mine && !u.Disabled() && next.Units[u.Name()] == nil && next.Units[u.Name()+plan.ShadowSuffix] == nil && !next.Unreadable(u.File.Path) {
			out = append(out, u.Name())
		}
	}
	return slices.Compact(out), nil
}

// stopWarnings tell whoever edits or deletes a ConfigMap what ends with it.
func (a *admission) stopWarnings(before, now *corev1.ConfigMap) []string {
	names, err := a.ending(before, now)
	if err != nil || len(names) == 0 {
		return nil
	}
	what := "the policy " + names[0] + " stops"
	if len(names) > 1 {
		what = "the policies " + strings.Join(names, ", ") + " stop"
	}
	why := "it is no longer in the ConfigMap"
	switch {
	case now == nil:
		why = "the ConfigMap is deleted, with its history"
	case now.Labels[v1alpha1.LabelPolicy] != "true":
		why = mislabelled(now)
	case len(names) > 1:
		why = "they are no longer in the ConfigMap"
	}
	return []string{what + ": " + why}
}

// mislabelled says what is wrong with the label of a ConfigMap.
func mislabelled(m *corev1.ConfigMap) string {
	for _, label := range []string{v1alpha1.LabelPolicy, v1alpha1.LabelParams} {
		if text, has := m.Labels[label]; has && text != "true" {
			return fmt.Sprintf("its label %s is %q, and only \"true\" counts", label, text)
		}
	}
	return fmt.Sprintf("it has no label %s=true", v1alpha1.LabelPolicy)
}

// strayNotes are what ConfigMaps say of themselves of which nothing is read,
// because their label is not right, or is gone since this process saw them.
func (l *library) strayNotes(ctx context.Context) (out []note) {
	known := map[string]bool{}
	add := func(m *corev1.ConfigMap) {
		if !known[m.Name] {
			known[m.Name] = true
			out = append(out, note{ConfigMap: configMap(m), status: statusStopped, text: "nothing in it is read: " + mislabelled(m), stopped: true})
		}
	}
	for _, m := range l.shelf.strays() {
		if l.seen[m.Name] == "" { // otherwise its policies run until the next look
			add(m)
		}
	}
	for _, name := range sortedKeys(l.unlabelled) {
		m, err := l.client.CoreV1().ConfigMaps(l.PolicyNamespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && (labelled(m) || m.Annotations[v1alpha1.AnnotationStatus] == statusStopped) {
			delete(l.unlabelled, name) // there is nothing more to say
			delete(l.bare, name)
			continue
		}
		if err == nil {
			l.bare[name] = m
			add(m)
		}
	}
	return out
}

// lost notes the ConfigMaps that were read before and are not now: they are gone,
// or have lost their label.
func (l *library) lost(c *source.Catalog) {
	now := map[string]string{}
	for _, contents := range c.Contents {
		now[contents.Name] = contents.UID
	}
	for _, v := range c.Values {
		now[v.Name] = v.UID
	}
	for name := range l.seen {
		if now[name] == "" {
			l.unlabelled[name] = true
		}
	}
	for name, uid := range now {
		delete(l.unlabelled, name)
		l.uids[name] = uid
	}
	l.seen = now
}

// leftovers notes the ConfigMaps that have a status and no label: they lost it
// while no controller ran.
func (l *library) leftovers(ctx context.Context) {
	list, err := l.client.CoreV1().ConfigMaps(l.PolicyNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range list.Items {
		if m := &list.Items[i]; m.Annotations[v1alpha1.AnnotationStatus] != "" && !labelled(m) {
			l.unlabelled[m.Name] = true
		}
	}
}

// stopped tells of a policy that ends without having been disabled.
func (l *library) stopped(id string, was *source.Unit, c *source.Catalog) {
	name := path.Base(path.Dir(was.File.Path))
	if u := c.Units[was.Name()]; u != nil && u.Disabled() || c.Units[was.Name()+plan.ShadowSuffix] != nil || c.Stopped(was.Name(), was.File.Path, id != was.Name()) {
		return // somebody wants it so
	}
	why := "the ConfigMap is gone, or has lost the label " + v1alpha1.LabelPolicy + "=true"
	if l.seen[name] != "" {
		why = "it is no longer in the ConfigMap"
	}
	object := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: l.PolicyNamespace, Name: name, UID: types.UID(l.uids[name])}
	l.recorder.Event(object, corev1.EventTypeWarning, "PolicyStopped", fmt.Sprintf("the policy %s no longer runs: %s", id, why))
}
