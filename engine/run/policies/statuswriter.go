package policies

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/events"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// statusWriter writes the status into the annotations of ConfigMaps, and records
// Events about changes of it.
type statusWriter struct {
	client kubernetes.Interface
	log    *slog.Logger
	events *events.Recorder
	// written is what this process has written last, by UID: the cache may not
	// show it yet.
	written map[string]writing
	// resting are when the notes may be written that wait, because only numbers change.
	resting []time.Time
}

// writing is what was written, and the version of the object that it led to.
type writing struct {
	want    map[string]string
	version string
	// reason is that of the note, since when it is written, at when the note was.
	reason    string
	since, at time.Time
}

// A note stays as it is while only numbers in it change for as long as its reason was written
// before it, within these bounds: the first numbers are seldom those of all replicas and
// objects, and soon corrected.
const (
	newReason  = healthInterval
	sameReason = 15 * time.Second
)

// rests returns how long the note stays as it is while only numbers in it change.
func (w writing) rests() time.Duration { return min(max(w.at.Sub(w.since), newReason), sameReason) }

// begun returns since when a reason is written of which a note is written now.
func (w writing) begun(reason string, now time.Time) time.Time {
	if reason == "" || reason != w.reason {
		return now
	}
	return w.since
}

// early reports whether a patch only brings other numbers into a note that was just
// written. Any other change of an annotation is written at once, with the numbers.
func (w writing) early(one *statusReport, before map[string]string, patch map[string]any, now time.Time) bool {
	_, changed := patch[v1alpha1.AnnotationError]
	return changed && len(patch) == 1 && one.reason != "" && one.reason == w.reason &&
		before[v1alpha1.AnnotationError] == w.want[v1alpha1.AnnotationError] && now.Sub(w.at) < w.rests()
}

// shown reports whether an object that the cache has is not older than the writing.
func (w writing) shown(version string) bool {
	order, err := resourceversion.CompareResourceVersion(version, w.version)
	return err != nil || order >= 0
}

// write brings the annotations up to date, and records Events about changes. It
// reports whether something is not written yet and has to be tried again.
func (n *statusWriter) write(ctx context.Context, reports []statusReport, live func(*source.ConfigMap) (annotations map[string]string, version string)) (later bool) {
	written, unwritten := map[string]writing{}, false
	n.resting = nil
	for i := range reports {
		one := &reports[i]
		want := one.annotations()
		before, version := live(one.configMap)
		last, known := n.written[one.configMap.UID]
		if known && !last.shown(version) {
			before = last.want
		}
		if one.pending || one.params && unwritten {
			want = before
		}
		patch := changes(before, want)
		switch {
		case len(patch) == 0:
		case last.early(one, before, patch, time.Now()):
			later, n.resting = true, append(n.resting, last.at.Add(last.rests()))
		default:
			now, err := n.patch(ctx, one, patch)
			if err != nil {
				unwritten = unwritten || !apierrors.IsNotFound(err)
				continue
			}
			n.event(one, before, last.reason)
			at := time.Now()
			last, known = writing{want: want, version: now, reason: one.reason, since: last.begun(one.reason, at), at: at}, true
		}
		if known {
			written[one.configMap.UID] = last
		}
	}
	n.written = written
	return later || unwritten
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

func (n *statusWriter) patch(ctx context.Context, one *statusReport, patch map[string]any) (version string, err error) {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": patch, "uid": one.configMap.UID}})
	if err != nil {
		return "", err
	}
	now, err := n.client.CoreV1().ConfigMaps(one.configMap.Namespace).Patch(ctx, one.configMap.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: apply.FieldManager})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
		n.log.Error("cannot update the status annotations of the ConfigMap", "configmap", one.configMap.Path(), "error", err.Error())
	}
	if err != nil {
		return "", err
	}
	return now.ResourceVersion, nil
}

// event records a change of the status, or of the error.
func (n *statusWriter) event(one *statusReport, before map[string]string, lastReason string) {
	object := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: one.configMap.Namespace, Name: one.configMap.Name, UID: types.UID(one.configMap.UID)}
	status := before[v1alpha1.AnnotationStatus]
	if status == one.status && before[v1alpha1.AnnotationPolicies] == one.policies && (before[v1alpha1.AnnotationError] == one.text || one.reason != "" && one.reason == lastReason) {
		return
	}
	if one.begins {
		return
	}
	kind, text := corev1.EventTypeNormal, one.policies
	switch one.status {
	case statusRefused, statusRolloutStopped, statusDegraded, statusStopped, statusPaused:
		kind = corev1.EventTypeWarning
	}
	text = cmp.Or(one.text, text, "revision "+one.configMap.Revision())
	n.events.Add(object, kind, "Policies"+one.status, value.Cut(text, configmap.MaxText), time.Now())
}

// rolloutEvent records an Event about a step of a rollout; nil is a ConfigMap that does
// not exist.
func (n *statusWriter) rolloutEvent(text string, object *corev1.ObjectReference) {
	if object != nil {
		n.events.Add(object, corev1.EventTypeNormal, "RolloutStep", value.Cut(text, configmap.MaxText), time.Now())
	}
}

// due reports whether a note that has waited may be written.
func (n *statusWriter) due(now time.Time) bool {
	return slices.ContainsFunc(n.resting, func(at time.Time) bool { return !now.Before(at) })
}

// flush records the Events that were delayed.
func (n *statusWriter) flush(now time.Time) { n.events.Flush(now) }

// brakeEvent records an Event about what the brakes did about a policy of a ConfigMap;
// nil is one that does not exist.
func (n *statusWriter) brakeEvent(news brake.News, object *corev1.ObjectReference) {
	if object == nil {
		return
	}
	kind := corev1.EventTypeWarning
	switch news.Kind {
	case brake.Resumed, brake.HoldBegun, brake.HoldEnded:
		kind = corev1.EventTypeNormal
	}
	n.events.Add(object, kind, string(news.Kind), value.Cut(news.Text, configmap.MaxText), time.Now())
}
