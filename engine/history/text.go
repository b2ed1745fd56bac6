package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/source"
)

// Label is the label of the ControllerRevisions: the name of the PolicySet.
const Label = "edict.dev/policyset"

// The annotations of a ControllerRevision.
const (
	annotationManager = "edict.dev/field-manager"
	annotationUser    = "edict.dev/user"
	annotationEdited  = "edict.dev/edited"
	annotationDigest  = "edict.dev/digest"
	// AnnotationActive is the time at which the text became active for all objects.
	AnnotationActive = "edict.dev/active-since"
)

// ReasonTextWritten is the reason of the Event that names the author of a text.
const ReasonTextWritten = "TextWritten"

// AuthorOf returns the annotations of that Event.
func AuthorOf(digest, user string) map[string]string {
	return map[string]string{annotationDigest: digest, annotationUser: user}
}

// SetAuthor adds the users who have written the text of a ControllerRevision, as Events name them.
func SetAuthor(r *appsv1.ControllerRevision, events []corev1.Event) {
	users := map[string]bool{}
	for i := range events {
		if a := events[i].Annotations; a[annotationDigest] == r.Annotations[annotationDigest] && a[annotationUser] != "" {
			users[a[annotationUser]] = true
		}
	}
	r.Annotations[annotationUser] = strings.Join(slices.Sorted(maps.Keys(users)), ", ")
}

// Limit is how many texts are kept of a set, besides those that its status names.
const Limit = 10

// Text is one text of a PolicySet.
type Text struct {
	*source.ConfigMap
	// Name is the name of the ControllerRevision, Number its revision, from 1.
	Revision string
	Object   string
	Number   int64
	// Active is the time at which it became active for all objects; zero if it never did.
	Active time.Time
	// User has written it, or several have; empty if the webhook has not seen that.
	User string
}

// content is the data of a ControllerRevision.
type content struct {
	ConfigMap string            `json:"configMap"`
	Data      map[string]string `json:"data"`
}

// New returns the ControllerRevision that keeps a text of a set.
func New(set *edictv1.PolicySet, text *source.ConfigMap, number int64) (*appsv1.ControllerRevision, error) {
	data, err := json.Marshal(content{text.Name, text.Data}) // as the API server writes it: it is immutable
	if err != nil {
		return nil, err
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: set.Name + "-" + source.Revision(text.Digest()), Namespace: set.Namespace, Labels: map[string]string{Label: set.Name},
			Annotations:     map[string]string{annotationManager: text.Manager, annotationEdited: text.Edited.UTC().Format(time.RFC3339), annotationDigest: text.Digest()},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: edictv1.GroupVersion.String(), Kind: "PolicySet", Name: set.Name, UID: set.UID}},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: number,
	}, nil
}

// Parse reads a ControllerRevision. It computes the digest again.
func Parse(r *appsv1.ControllerRevision) (*Text, error) {
	var c content
	if err := json.Unmarshal(r.Data.Raw, &c); err != nil {
		return nil, fmt.Errorf("the ControllerRevision %s cannot be read: %w", r.Name, err)
	}
	t := &Text{Object: r.Name, Number: r.Revision, User: r.Annotations[annotationUser], ConfigMap: &source.ConfigMap{Namespace: r.Namespace, Name: c.ConfigMap, Data: c.Data, Manager: r.Annotations[annotationManager], Edited: r.CreationTimestamp.Time}}
	if at, err := time.Parse(time.RFC3339, r.Annotations[annotationEdited]); err == nil {
		t.Edited = at
	}
	if at, err := time.Parse(time.RFC3339, r.Annotations[AnnotationActive]); err == nil {
		t.Active = at
	}
	t.Revision = source.Revision(t.Digest())
	return t, nil
}

// List reads the ControllerRevisions of a set, the oldest first. Revisions of other sets, and
// broken ones, are left out.
func List(set *edictv1.PolicySet, items []appsv1.ControllerRevision) (out []*Text) {
	for i := range items {
		if !slices.ContainsFunc(items[i].OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == set.UID }) {
			continue
		}
		if t, err := Parse(&items[i]); err == nil {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *Text) int { return int(a.Number - b.Number) })
	return out
}

// ByRevision returns the newest text with a revision; nil if there is none.
func ByRevision(texts []*Text, revision string) *Text {
	for _, t := range slices.Backward(texts) {
		if revision != "" && t.Revision == revision {
			return t
		}
	}
	return nil
}

// ByDigest returns the text with a digest; nil if there is none.
func ByDigest(texts []*Text, digest string) *Text {
	for _, t := range slices.Backward(texts) {
		if digest != "" && t.Digest() == digest {
			return t
		}
	}
	return nil
}
