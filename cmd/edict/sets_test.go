package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/source"
)

// setsOf is a client of a cluster with some objects, for a person named ann.
func setsOf(t *testing.T, objects ...client.Object) setClient {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), edictv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	in := interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
		if review, is := o.(*authenticationv1.SelfSubjectReview); is {
			review.Status.UserInfo.Username = "ann"
			return nil
		}
		return c.Create(ctx, o, options...)
	}}
	return setClient{client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(in).Build()}
}

// setOf is a set that runs the ConfigMap m.
func setOf(name string, edit func(*edictv1.PolicySet)) *edictv1.PolicySet {
	s := &edictv1.PolicySet{ObjectMeta: metav1.ObjectMeta{Namespace: defaultNamespace, Name: name, UID: types.UID(name)}}
	s.Spec.Source.ConfigMap.Name, s.Spec.Mode = "m", edictv1.ModeEnforce
	if edit != nil {
		edit(s)
	}
	return s
}

func mapOf(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: defaultNamespace, Name: "m"}, Data: data}
}

// keptText is a text of a set that was kept with a number; it was active unless since is zero.
func keptText(t *testing.T, set string, number int64, data map[string]string, since time.Time) *appsv1.ControllerRevision {
	t.Helper()
	text := source.NewConfigMap(mapOf(data))
	text.Manager, text.Edited = "kubectl-edit", time.Date(2026, 1, int(number), 12, 0, 0, 0, time.UTC)
	r, err := history.New(setOf(set, nil), text, number)
	if err != nil {
		t.Fatal(err)
	}
	r.Name += "-" + strings.Repeat("x", int(number)) // two may have one text
	if !since.IsZero() {
		r.Annotations[history.AnnotationActive] = since.Format(time.RFC3339)
	}
	return r
}

func (c *setClient) read(t *testing.T, name string) *edictv1.PolicySet {
	t.Helper()
	s := &edictv1.PolicySet{}
	if err := c.client.Get(t.Context(), client.ObjectKey{Namespace: defaultNamespace, Name: name}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func says(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestSets: a set has its ConfigMap and its own texts, the oldest first.
func TestSets(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 9, 0, 0, 0, 0, time.UTC)
	elsewhere := setOf("far", nil)
	elsewhere.Namespace = "other"
	c := setsOf(t, setOf("s", nil), setOf("lost", func(s *edictv1.PolicySet) { s.Spec.Source.ConfigMap.Name = "n" }), elsewhere, mapOf(map[string]string{"one.yaml": marking("one", "a")}),
		keptText(t, "s", 2, map[string]string{"a": "2"}, now), keptText(t, "s", 1, map[string]string{"a": "1"}, now), keptText(t, "lost", 1, map[string]string{"a": "3"}, now))
	for namespace, want := range map[string]int{"": 3, defaultNamespace: 2, "none": 0} {
		c.Context.Namespace = namespace
		if all, err := c.list(t.Context()); err != nil || len(all) != want {
			t.Errorf("%q: %d, %v", namespace, len(all), err)
		}
	}
	c.Context.Namespace = defaultNamespace
	s, err := c.get(t.Context(), "s/one")
	if err != nil || s.source == nil || len(s.texts) != 2 || s.texts[0].Number != 1 || len(s.present().Units) != 1 || s.present().Units[0].ID() != "s/one" {
		t.Errorf("%+v, %v", s, err)
	}
	lost, err := c.get(t.Context(), "lost")
	if err != nil || lost.source != nil || len(lost.texts) != 1 || len(lost.present().Units) != 0 {
		t.Errorf("%+v, %v", lost, err)
	}
	for name, want := range map[string]string{
		"t":     `there is no PolicySet "t" in the namespace edict-system`,
		"los/p": `there is no PolicySet "los" in the namespace edict-system; did you mean "lost"?`,
	} {
		if _, err := c.get(t.Context(), name); !strings.HasPrefix(says(err), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestPatchOfAnotherVersion: what somebody else has written meanwhile is not overwritten.
func TestPatchOfAnotherVersion(t *testing.T) {
	t.Parallel()
	c := setsOf(t, setOf("s", nil))
	first, err := c.get(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.get(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	suspend := true
	if err := c.patch(t.Context(), first, func(s *edictv1.PolicySet) { s.Spec.Suspend = &suspend }); err != nil {
		t.Fatal(err)
	}
	err = c.patch(t.Context(), second, func(s *edictv1.PolicySet) { s.Spec.Mode = edictv1.ModeDisabled })
	if want := "the PolicySet edict-system/s has changed meanwhile, and nothing was written: look at it and try again"; says(err) != want {
		t.Errorf("%v, want %q", err, want)
	}
	if got := c.read(t, "s"); got.Spec.Mode != edictv1.ModeEnforce || got.Spec.Suspend == nil {
		t.Errorf("it has the spec %+v", got.Spec)
	}
	refuses := setsOf(t, setOf("s", nil))
	refuses.client = interceptor.NewClient(refuses.client.(client.WithWatch), interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
		return apierrors.NewForbidden(kschema.GroupResource{Resource: "policysets"}, "s", errors.New("authorize"))
	}})
	if err := refuses.patch(t.Context(), first, func(s *edictv1.PolicySet) { s.Spec.Pinned = &suspend }); !strings.Contains(says(err), "writing the PolicySet edict-system/s: ") || !strings.Contains(says(err), "authorize") {
		t.Errorf("refused: %v", err)
	}
}

// TestActive: commands look at the texts that are active, policy by policy, and say where that is not the
// present one.
func TestActive(t *testing.T) {
	t.Parallel()
	old, now := map[string]string{"one.yaml": marking("one", "old"), "two.yaml": marking("two", "old")}, map[string]string{"one.yaml": marking("one", "new"), "two.yaml": marking("two", "new")}
	revision := func(data map[string]string) string {
		return source.Revision((&source.ConfigMap{Data: data}).Digest())
	}
	one := func(p edictv1.PolicyStatus) []edictv1.PolicyStatus {
		p.Name = "one"
		return []edictv1.PolicyStatus{p, {Name: "two", LastGood: revision(now)}}
	}
	const waits = "nothing of the policy s/one is active (it waits); "
	for name, tc := range map[string]struct {
		status      []edictv1.PolicyStatus
		onlyRunning bool
		want        string // the values of the policies
		note        string
	}{
		"the present one":   {one(edictv1.PolicyStatus{LastGood: revision(now)}), true, "one: new two: new", ""},
		"no status yet":     {nil, true, "one: new two: new", ""},
		"another one":       {one(edictv1.PolicyStatus{LastGood: revision(old), Reason: "LastGoodEnforced"}), false, "two: new one: old", "the policy s/one: active is the text " + revision(old) + ", which is taken, not the one in the ConfigMap m (LastGoodEnforced)"},
		"one that is gone":  {one(edictv1.PolicyStatus{LastGood: "00000000"}), false, "one: new two: new", "the policy s/one: active is the text 00000000, which is not kept, so the present one is taken"},
		"nothing":           {one(edictv1.PolicyStatus{Message: "it waits"}), false, "one: new two: new", waits + "the text is taken"},
		"nothing, and runs": {one(edictv1.PolicyStatus{Reason: "it waits"}), true, "two: new", waits + "it counts as not there"},
		"it is disabled":    {one(edictv1.PolicyStatus{Mode: edictv1.ModeDisabled}), true, "one: new two: new", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := setsOf(t, setOf("s", func(s *edictv1.PolicySet) { s.Status.Policies = tc.status }), mapOf(now), keptText(t, "s", 1, old, time.Time{}))
			s, err := c.get(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			contents, notes := s.active(tc.onlyRunning)
			var got []string
			for _, u := range contents.Units {
				value := "old"
				if strings.Contains(string(u.File.Text), ": new") {
					value = "new"
				}
				got = append(got, u.Name()+": "+value)
			}
			if strings.Join(got, " ") != tc.want || strings.Join(notes, "\n") != tc.note {
				t.Errorf("%q with the notes %q, want %q with %q", got, notes, tc.want, tc.note)
			}
		})
	}
}

// TestDigestAndCRD: the digest is that of the files as keys of a ConfigMap, computed with
// printf 'a.yaml 2\nx\nb.rego 1\ny' | sha256sum; the definition is one.
func TestDigestAndCRD(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	a, b := writeFile(t, folder, "a.yaml", "x\n"), writeFile(t, folder, "b.rego", "y")
	const want = "sha256:c07258673214a43b93cabb716faec7587b228f6d83aaf8c0eddaa2d01dbbca27\n"
	for _, args := range [][]string{{a, b}, {b, a}} {
		if got := program(t, append([]string{"digest"}, args...)...); got.code != 0 || got.stdout != want {
			t.Errorf("%d: %s%s", got.code, got.stdout, got.stderr)
		}
	}
	if got := program(t, "digest", folder+"/none"); got.code != 1 || !strings.Contains(got.stderr, "no such file") {
		t.Errorf("%d: %s", got.code, got.stderr)
	}
	if got := program(t, "digest"); got.code != 64 {
		t.Errorf("%d: %s", got.code, got.stderr)
	}
	if got := program(t, "crd"); got.code != 0 || !strings.Contains(got.stdout, "kind: CustomResourceDefinition\n") || !strings.Contains(got.stdout, "name: policysets.edict.dev\n") {
		t.Errorf("%d: %s", got.code, got.stdout)
	}
}

// TestHistory: the newest text is first, and the one that runs is marked.
func TestHistory(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 1, 13, 0, 0, 0, time.UTC)
	texts := []map[string]string{{"a.yaml": "1"}, {"a.yaml": "2"}, {"a.yaml": "3", "b.rego": ""}}
	c := setsOf(t, setOf("s", func(s *edictv1.PolicySet) {
		s.Status.Revision = source.Revision((&source.ConfigMap{Data: texts[1]}).Digest())
	}), keptText(t, "s", 1, texts[0], since), keptText(t, "s", 2, texts[1], since.Add(time.Hour)), keptText(t, "s", 3, texts[2], time.Time{}))
	s, err := c.get(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printHistory(&out, shownTexts(s)); err != nil {
		t.Fatal(err)
	}
	revision := func(i int) string { return source.Revision((&source.ConfigMap{Data: texts[i]}).Digest()) }
	want := [][]string{
		{"NAMESPACE", "SET", "NUMBER", "REVISION", "CURRENT", "ACTIVE", "EDITED", "AUTHOR", "KEYS"},
		{"edict-system", "s", "3", revision(2), "2026-01-03T12:00:00Z", "kubectl-edit", "a.yaml", "b.rego"},
		{"edict-system", "s", "2", revision(1), "yes", "2026-01-01T14:00:00Z", "2026-01-02T12:00:00Z", "kubectl-edit", "a.yaml"},
		{"edict-system", "s", "1", revision(0), "2026-01-01T13:00:00Z", "2026-01-01T12:00:00Z", "kubectl-edit", "a.yaml"},
	}
	var got [][]string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Fields(line))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRollback: the digest is set to that of the text before the current one, or of that with a number.
func TestRollback(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 1, 13, 0, 0, 0, time.UTC)
	texts := []map[string]string{{"a.yaml": "1"}, {"a.yaml": "2"}, {"a.yaml": "3"}, {"a.yaml": "4"}}
	digest := func(number int64) string { return (&source.ConfigMap{Data: texts[number-1]}).Digest() }
	for name, tc := range map[string]struct {
		texts           []int64 // that were kept; 3 was never active
		current, number int64
		want            int64 // 0 is an error
		err             string
	}{
		"the one before":            {[]int64{1, 2, 4}, 4, 0, 2, ""},
		"one that was never active": {[]int64{1, 2, 3, 4}, 4, 0, 2, ""},
		"a number":                  {[]int64{1, 2, 3, 4}, 4, 1, 1, ""},
		"also of one never active":  {[]int64{1, 2, 3, 4}, 4, 3, 3, ""},
		"while a new one is tested": {[]int64{1, 2, 3}, 2, 0, 1, ""},
		"once more":                 {[]int64{1, 2, 4}, 2, 0, 1, ""},
		"the first":                 {[]int64{1}, 1, 0, 0, "the set s has no earlier text that was active"},
		"no such number":            {[]int64{1, 2}, 2, 7, 0, "the set s has no text 7: edict history s lists them"},
		"nothing is kept":           {nil, 1, 0, 0, "the set s has no earlier text that was active"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{setOf("s", func(s *edictv1.PolicySet) { s.Status.Revision = source.Revision(digest(tc.current)) })}
			for _, number := range tc.texts {
				active := since
				if number == 3 {
					active = time.Time{}
				}
				objects = append(objects, keptText(t, "s", number, texts[number-1], active))
			}
			c := setsOf(t, objects...)
			var out strings.Builder
			err := c.rollback(t.Context(), &out, "s", tc.number)
			want := ""
			if tc.want > 0 {
				want = digest(tc.want)
			}
			if got := c.read(t, "s").Spec.Source.Digest; got != want || says(err) != tc.err {
				t.Errorf("the digest is %q, want %q (%v)", got, want, err)
			}
			if tc.want > 0 && !strings.Contains(out.String(), "the set s runs the text ") {
				t.Errorf("it says %q", out.String())
			}
		})
	}
}
