package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/source"
)

var edited = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// textOf is a ConfigMap named m with a text.
func textOf(text string) *source.ConfigMap {
	return &source.ConfigMap{Namespace: "ns", Name: "m", Data: map[string]string{"p.yaml": text}, Manager: "kubectl", Edited: edited}
}

// setOf is a set named s that runs the ConfigMap m.
func setOf(digest, revision string) *edictv1.PolicySet {
	s := &edictv1.PolicySet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s", UID: "u"}}
	s.Spec.Source.ConfigMap.Name, s.Spec.Source.Digest, s.Status.Revision = "m", digest, revision
	return s
}

// kept are texts as they were kept, the first with the number 1.
func kept(t *testing.T, texts ...string) (out []*Text) {
	t.Helper()
	var items []appsv1.ControllerRevision
	for i, text := range texts {
		r, err := New(setOf("", ""), textOf(text), int64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		items = append([]appsv1.ControllerRevision{*r}, items...)
	}
	return List(setOf("", ""), items)
}

// TestChoose: the text of the ConfigMap, unless spec.source.digest names another one that is kept.
// Without the ConfigMap the text that status names continues.
func TestChoose(t *testing.T) {
	t.Parallel()
	a, b, c := textOf("a"), textOf("b"), textOf("c")
	history := kept(t, "a", "b")
	const gone = "the ConfigMap m does not exist in the namespace ns: create it, or correct spec.source"
	missing := func(has string) string {
		return has + ", and the history has no text with spec.source.digest " + c.Digest() + ": correct one of the two (edict digest prints that of files)"
	}
	for name, tc := range map[string]struct {
		set             *edictv1.PolicySet
		configMap       *source.ConfigMap
		kept            []*Text
		want            string // the text, "" is none
		reason, message string
	}{
		"the ConfigMap":                       {setOf("", ""), c, history, "c", "", ""},
		"another than status names":           {setOf("", source.Revision(a.Digest())), c, history, "c", "", ""},
		"with its digest":                     {setOf(c.Digest(), ""), c, nil, "c", "", ""},
		"with its digest, which is kept, too": {setOf(b.Digest(), ""), b, history, "b", "", ""},
		"another digest, which is kept":       {setOf(a.Digest(), ""), b, history, "a", "", "the text with spec.source.digest is from the history; the ConfigMap m has the digest " + b.Digest()},
		"another digest, which is not kept":   {setOf(c.Digest(), ""), b, history, "", DigestMismatch, missing("the ConfigMap m has the digest " + b.Digest())},
		"gone":                                {setOf("", source.Revision(a.Digest())), nil, history, "a", SourceNotFound, gone},
		"gone, and nothing was good":          {setOf("", ""), nil, history, "", SourceNotFound, gone},
		"gone, and the good one is not kept":  {setOf("", source.Revision(c.Digest())), nil, history, "", SourceNotFound, gone},
		"gone, with a digest":                 {setOf(a.Digest(), source.Revision(b.Digest())), nil, history, "a", "", "the text with spec.source.digest is from the history; the ConfigMap m does not exist"},
		"gone, the digest is not kept":        {setOf(c.Digest(), source.Revision(b.Digest())), nil, history, "", SourceNotFound, missing("the ConfigMap m does not exist")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, text := Choose(tc.set, tc.configMap, tc.kept), ""
			if got.Text != nil {
				text = got.Text.Data["p.yaml"]
			}
			if diff := cmp.Diff([]string{tc.want, tc.reason, tc.message}, []string{text, got.Reason, got.Message}); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestParse: what was kept is read as it was.
func TestParse(t *testing.T) {
	t.Parallel()
	text := textOf("a")
	r, err := New(setOf("", ""), text, 7)
	if err != nil {
		t.Fatal(err)
	}
	owner := []metav1.OwnerReference{{APIVersion: "edict.dev/v1alpha1", Kind: "PolicySet", Name: "s", UID: "u"}}
	if diff := cmp.Diff(owner, r.OwnerReferences); diff != "" || r.Name != "s-"+source.Revision(text.Digest()) || r.Namespace != "ns" || r.Labels[Label] != "s" {
		t.Errorf("the object is %s/%s with the labels %v (-want +got):\n%s", r.Namespace, r.Name, r.Labels, diff)
	}
	active := edited.Add(time.Hour)
	r.Annotations[AnnotationActive] = active.Format(time.RFC3339)
	got, err := Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	want := &Text{ConfigMap: text, Revision: source.Revision(text.Digest()), Object: r.Name, Number: 7, Active: active}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestSetAuthor: of the Events, those count that name the digest; of two users both are named.
func TestSetAuthor(t *testing.T) {
	t.Parallel()
	event := func(text *source.ConfigMap, user string) (e corev1.Event) {
		e.Annotations = AuthorOf(text.Digest(), user)
		return e
	}
	a, b := textOf("a"), textOf("b")
	for want, events := range map[string][]corev1.Event{
		"":           {event(b, "bob")},
		"alice":      {event(b, "bob"), event(a, "alice"), event(a, "alice"), event(a, "")},
		"alice, bob": {event(a, "bob"), event(a, "alice")},
	} {
		r, err := New(setOf("", ""), a, 1)
		if err != nil {
			t.Fatal(err)
		}
		SetAuthor(r, events)
		if got, err := Parse(r); err != nil || got.User != want {
			t.Errorf("%+v, %v, want %q", got, err, want)
		}
	}
}

// TestParseForged: the digest is computed from the data, not read from the name and the annotations, and
// times that cannot be read are missing.
func TestParseForged(t *testing.T) {
	t.Parallel()
	good, evil := textOf("good"), textOf("evil")
	r, err := New(setOf("", ""), evil, 1)
	if err != nil {
		t.Fatal(err)
	}
	r.Name, r.CreationTimestamp = "s-"+source.Revision(good.Digest()), metav1.NewTime(edited)
	r.Annotations = map[string]string{annotationEdited: "soon", AnnotationActive: "now"}
	got, err := Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest() != evil.Digest() || got.Revision != source.Revision(evil.Digest()) || !got.Active.IsZero() || !got.Edited.Equal(edited) || got.Manager != "" {
		t.Errorf("%s %+v", got.Digest(), got)
	}
	if c := Choose(setOf(good.Digest(), ""), nil, []*Text{got}); c.Text != nil {
		t.Error("another text is taken for the one with the digest")
	}
	r.Data.Raw = []byte("]")
	if got, err := Parse(r); err == nil {
		t.Errorf("%+v is read", got)
	}
}

// TestList: the oldest is first; revisions that cannot be read are left out.
func TestList(t *testing.T) {
	t.Parallel()
	texts := kept(t, "a", "b", "a")
	broken, err := New(setOf("", ""), textOf("a"), 9)
	if err != nil {
		t.Fatal(err)
	}
	foreign := broken.DeepCopy()
	broken.Data.Raw, foreign.OwnerReferences[0].UID = []byte("]"), "v"
	if got := List(setOf("", ""), []appsv1.ControllerRevision{*broken, *foreign}); len(got) > 0 {
		t.Errorf("%v is there", got)
	}
	var numbers []int64
	for _, one := range texts {
		numbers = append(numbers, one.Number)
	}
	if diff := cmp.Diff([]int64{1, 2, 3}, numbers); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	digest := textOf("a").Digest()
	if got := ByDigest(texts, digest); got == nil || got.Number != 3 {
		t.Errorf("of two texts with one digest %+v is taken", got)
	}
	if got := ByRevision(texts, source.Revision(digest)); got == nil || got.Number != 3 {
		t.Errorf("of two texts with one revision %+v is taken", got)
	}
	if ByDigest(texts, "") != nil || ByRevision(texts, "") != nil {
		t.Error("nothing is found as something")
	}
}
