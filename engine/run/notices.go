package run

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// notices writes into ConfigMaps what became of them.
type notices struct {
	client kubernetes.Interface
	log    *slog.Logger
	events *events
	// written is what this process has written last, by UID: the cache may not
	// show it yet.
	written map[string]writing
}

// writing is what was written, and the version of the object that it led to.
type writing struct {
	want    map[string]string
	version string
	// reason is that of the note, at is when it was written.
	reason string
	at     time.Time
}

// sameReason is how long a note stays as it is while only numbers in it change.
const sameReason = 15 * time.Second

// recent reports whether a note says the same as one that was just written, but
// for numbers.
func (w writing) recent(one *note, now time.Time) bool {
	return one.reason != "" && one.reason == w.reason && one.status == w.want[v1alpha1.AnnotationStatus] &&
		one.policies == w.want[v1alpha1.AnnotationPolicies] && now.Sub(w.at) < sameReason
}

// shown reports whether an object that the cache has is not older than the writing.
func (w writing) shown(version string) bool {
	order, err := resourceversion.CompareResourceVersion(version, w.version)
	return err != nil || order >= 0
}

func newNotices(p *process, client kubernetes.Interface, recorder record.EventRecorder) *notices {
	return &notices{client: client, log: p.Log, events: newEvents(recorder), written: map[string]writing{}}
}

// publish brings the annotations up to date, and tells of changes in events. It
// reports whether something could not be written.
func (n *notices) publish(ctx context.Context, notes []note, live func(*source.ConfigMap) (annotations map[string]string, version string)) (failed bool) {
	written := map[string]writing{}
	for i := range notes {
		one := &notes[i]
		want := one.annotations()
		before, version := live(one.ConfigMap)
		last, known := n.written[one.UID]
		if known && !last.shown(version) {
			before = last.want
		}
		if one.pending {
			want = before
		}
		if last.recent(one, time.Now()) && before[v1alpha1.AnnotationStatus] == one.status {
			failed = failed || before[v1alpha1.AnnotationError] != one.text // later
			want = before
		}
		if patch := changes(before, want); len(patch) > 0 {
			now, err := n.write(ctx, one, patch)
			if err != nil {
				failed = failed || !apierrors.IsNotFound(err)
				continue
			}
			n.event(one, before, last.reason)
			last, known = writing{want: want, version: now, reason: one.reason, at: time.Now()}, true
		}
		if known {
			written[one.UID] = last
		}
	}
	n.written = written
	return failed
}

// changes returns the merge patch of annotations.
func changes(before, want map[string]string) map[string]any {
	patch := map[string]any{}
	for key, text := range want {
		switch text {
		case before[key]:
		case "":
			patch[key] = nil
		default:
			patch[key] = text
		}
	}
	return patch
}

func (n *notices) write(ctx context.Context, one *note, patch map[string]any) (version string, err error) {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": patch, "uid": one.UID}})
	if err != nil {
		return "", err
	}
	now, err := n.client.CoreV1().ConfigMaps(one.Namespace).Patch(ctx, one.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: apply.FieldManager})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
		n.log.Error("cannot update the status annotations of the ConfigMap", "configmap", one.Path(), "error", err.Error())
	}
	if err != nil {
		return "", err
	}
	return now.ResourceVersion, nil
}

// event tells of a change of the status, or of what is wrong. Before a ConfigMap
// has ever had a status there is nothing to tell but that it runs, or why not.
func (n *notices) event(one *note, before map[string]string, lastReason string) {
	object := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: one.Namespace, Name: one.Name, UID: types.UID(one.UID)}
	if one.rivals != "" && !strings.Contains(before[v1alpha1.AnnotationWarning], one.rivals) {
		n.events.add(object, corev1.EventTypeWarning, "PolicyOverwritten", one.rivals, time.Now())
	}
	status := before[v1alpha1.AnnotationStatus]
	if status == one.status && before[v1alpha1.AnnotationPolicies] == one.policies && (before[v1alpha1.AnnotationError] == one.text || one.reason != "" && one.reason == lastReason) {
		return
	}
	if one.status == statusWaiting && one.text == "" { // it has only not begun
		return
	}
	kind, text := corev1.EventTypeNormal, one.policies
	switch one.status {
	case statusRefused, statusDegraded, statusStopped, statusPaused, statusContested:
		kind = corev1.EventTypeWarning
	}
	if one.text != "" {
		text = one.text
	}
	if text == "" {
		text = "revision " + one.Revision()
	}
	n.events.add(object, kind, "Policies"+one.status, value.Cut(text, maxText), time.Now())
}

// flush tells of what was held back.
func (n *notices) flush(now time.Time) { n.events.flush(now) }
