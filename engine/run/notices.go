package run

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// What became of a ConfigMap.
const (
	statusActive   = "Active"
	statusWaiting  = "Waiting"
	statusRefused  = "Refused"
	statusDisabled = "Disabled"
	statusEmpty    = "Empty"
)

// note is what a ConfigMap is to say of itself.
type note struct {
	*source.ConfigMap
	status   string
	policies string
	// text says what is wrong or waited for.
	text string
}

// annotations are those that the controller writes; an empty value is absence.
func (n *note) annotations() map[string]string {
	return map[string]string{
		v1alpha1.AnnotationStatus: n.status, v1alpha1.AnnotationRevision: n.Revision(),
		v1alpha1.AnnotationPolicies: n.policies, v1alpha1.AnnotationError: n.text,
	}
}

// notes gives what is to be said about all ConfigMaps.
func (l *library) notes(c *source.Catalog) (out []note) {
	for _, contents := range c.Contents {
		out = append(out, l.note(c, contents))
	}
	for _, v := range c.Values {
		out = append(out, l.paramsNote(c, v))
	}
	return out
}

// note sums up a ConfigMap of policies.
func (l *library) note(c *source.Catalog, contents *source.Contents) note {
	n := note{ConfigMap: contents.ConfigMap}
	sum := tally{problems: slices.Concat(contents.Problems, c.Conflicts[contents.Path()])}
	for _, id := range l.known(c) {
		if l.originOf(c, id) == contents.Path() {
			sum.add(id, l.verdicts[id], l.term.told(id))
		}
	}
	n.policies = strings.Join(sum.runs, " ")
	n.status = sum.status()
	switch n.status {
	case statusWaiting:
		n.text = value.Cut(strings.Join(sum.waits, "\n"), maxText)
	default:
		n.text = problemText(contents.ConfigMap, sum.problems)
	}
	return n
}

// originOf says which ConfigMap a policy is from, as a path.
func (l *library) originOf(c *source.Catalog, id string) string {
	switch {
	case c.Origins[id] != nil:
		return c.Origins[id].Path()
	case l.adopted[id] != nil:
		return path.Dir(l.adopted[id].File.Path)
	default:
		return ""
	}
}

// tally counts what became of the policies of a ConfigMap.
type tally struct {
	problems         []document.Problem
	runs, waits      []string
	wanted, disabled int
}

func (t *tally) add(id string, v *verdict, s state) {
	t.wanted++
	if v != nil {
		t.problems = append(t.problems, v.problems...)
		if v.disabled() {
			t.disabled++
			if s.revision != "" {
				t.runs, t.waits = append(t.runs, id+"="+s.revision), append(t.waits, id+": what is under way is being finished")
			}
			return
		}
	}
	switch s.phase {
	case refused:
		t.problems = append(t.problems, document.Problem{Severity: document.Error, Message: id + ": " + s.reason})
	case waiting:
		t.waits = append(t.waits, id+": "+s.reason)
	}
	if s.revision != "" {
		t.runs = append(t.runs, id+"="+s.revision)
	}
}

func (t *tally) status() string {
	switch {
	case document.HasErrors(t.problems):
		return statusRefused
	case len(t.waits) > 0:
		return statusWaiting
	case t.wanted == 0:
		return statusEmpty
	case t.disabled == t.wanted:
		return statusDisabled
	case len(t.runs) < t.wanted-t.disabled:
		return statusWaiting
	default:
		return statusActive
	}
}

// paramsNote sums up a ConfigMap of params: what is wrong with it, and what
// policies say is wrong with the values in it.
func (l *library) paramsNote(c *source.Catalog, v *source.Values) note {
	n := note{ConfigMap: v.ConfigMap, status: statusActive}
	wrong := slices.Concat(v.Problems, c.Conflicts[v.Path()])
	for _, id := range sortedKeys(l.verdicts) {
		for _, p := range l.verdicts[id].problems {
			if strings.HasPrefix(p.File, v.Path()+"/") {
				wrong = append(wrong, p)
			}
		}
	}
	if document.HasErrors(wrong) {
		n.status = statusRefused
	}
	n.text = problemText(v.ConfigMap, wrong)
	return n
}

// maxText bounds what is written into an annotation or an event, in bytes.
const maxText = 1024

// problemText writes problems for whoever edits the ConfigMap: the key, the
// place in it, the line and a caret. Errors come first; warnings are left out
// where there are errors.
func problemText(m *source.ConfigMap, list []document.Problem) string {
	var out []string
	for _, p := range list {
		if p.Severity != document.Error && document.HasErrors(list) {
			continue
		}
		p.File = strings.TrimPrefix(p.File, m.Path()+"/")
		out = append(out, p.Pretty())
	}
	return value.Cut(strings.Join(out, "\n"), maxText)
}

// notices writes into ConfigMaps what became of them.
type notices struct {
	*process
	client   kubernetes.Interface
	recorder record.EventRecorder
	// written are the versions to which this process's last writes led, by UID:
	// the cache may not show them yet.
	written map[string]string
}

func newNotices(p *process, client kubernetes.Interface) *notices {
	return &notices{process: p, client: client, recorder: p.writer.recorder, written: map[string]string{}}
}

// publish brings the annotations up to date, and tells of changes in events. It
// says whether all could be written.
func (n *notices) publish(ctx context.Context, notes []note, live func(*source.ConfigMap) *corev1.ConfigMap) bool {
	written, all := map[string]string{}, true
	for i := range notes {
		one := &notes[i]
		m := live(one.ConfigMap)
		if m == nil {
			continue // it has just gone
		}
		if n.older(m) {
			written[one.UID] = n.written[one.UID]
			continue // what was written shows in a moment, and wakes us
		}
		patch := changes(m.Annotations, one.annotations())
		if len(patch) == 0 {
			continue
		}
		version, err := n.write(ctx, one, patch)
		if err != nil {
			all = false
			continue
		}
		written[one.UID] = version
		n.event(one, m.Annotations)
	}
	n.written = written
	return all
}

// older says whether a ConfigMap is as it was before this process wrote into it.
func (n *notices) older(m *corev1.ConfigMap) bool {
	wrote := n.written[string(m.UID)]
	if wrote == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(m.ResourceVersion, wrote)
	return err == nil && order < 0
}

// changes gives the merge patch of annotations.
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

// write gives the version to which it leads.
func (n *notices) write(ctx context.Context, one *note, patch map[string]any) (version string, err error) {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": patch, "uid": one.UID}})
	if err != nil {
		return "", err
	}
	got, err := n.client.CoreV1().ConfigMaps(one.Namespace).Patch(ctx, one.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: component})
	if err != nil {
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
			n.Log.Error("what became of a ConfigMap cannot be written into it, and will be tried again", "configmap", one.Path(), "error", err.Error())
		}
		return "", err
	}
	return got.ResourceVersion, nil
}

// event tells of a change of the status, or of what is wrong.
func (n *notices) event(one *note, before map[string]string) {
	if before[v1alpha1.AnnotationStatus] == one.status && before[v1alpha1.AnnotationError] == one.text && before[v1alpha1.AnnotationPolicies] == one.policies {
		return
	}
	kind, text := corev1.EventTypeNormal, one.policies
	if one.status == statusRefused {
		kind = corev1.EventTypeWarning
	}
	if one.text != "" {
		text = one.text
	}
	if text == "" {
		text = "revision " + one.Revision()
	}
	object := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: one.Namespace, Name: one.Name, UID: types.UID(one.UID)}
	n.recorder.Event(object, kind, "Policies"+one.status, text)
}
