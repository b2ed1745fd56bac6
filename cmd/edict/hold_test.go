package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	metadatafake "k8s.io/client-go/metadata/fake"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
)

// nodesOf asks a cluster with the Node a.
func nodesOf(t *testing.T) *objects {
	t.Helper()
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(kschema.GroupVersionKind{Version: "v1", Kind: "Node"}, meta.RESTScopeRoot)
	node := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	return &objects{mapper: mapper, client: metadatafake.NewSimpleMetadataClient(scheme, node)}
}

// TestHold: a hold is added to a set, and not one that would hold nothing.
func TestHold(t *testing.T) {
	t.Parallel()
	there := edictv1.Hold{Name: "there", Reason: "r", Until: &metav1.Time{}}
	for name, tc := range map[string]struct {
		of, rule, key string
		want          edictv1.Hold
		note, err     string
	}{
		"a set":                   {"s", "", "", edictv1.Hold{}, "", ""},
		"a policy":                {"s/one", "", "", edictv1.Hold{Policy: "one"}, "", ""},
		"a rule":                  {"s/one", "mark", "", edictv1.Hold{Policy: "one", Rule: "mark"}, "", ""},
		"an object":               {"s/one", "", "a", edictv1.Hold{Policy: "one", Key: "a"}, "", ""},
		"an object of any policy": {"s", "mark", "a", edictv1.Hold{Rule: "mark", Key: "a"}, "", ""},
		"an object that may come": {"s/one", "", "b", edictv1.Hold{Policy: "one", Key: "b"}, "there is no Node b now: nothing is held until there is one\n", ""},
		"a wrong key":             {"s/one", "", "n/a", edictv1.Hold{}, "", "--key n/a has a namespace, and the policy s/one decides about objects of the kind Node, which are in none: give it as NAME, such as a"},
		"no such set":             {"t", "", "", edictv1.Hold{}, "", `there is no PolicySet "t" in any namespace`},
		"no such policy":          {"s/onne", "", "", edictv1.Hold{}, "", `the set s has no policy "onne"; did you mean "one"?`},
		"no such rule":            {"s/one", "makr", "", edictv1.Hold{}, "", `one has no rule "makr"; did you mean "mark"?`},
		"no such rule of a set":   {"s", "makr", "", edictv1.Hold{}, "", `s has no rule "makr"; did you mean "mark"?`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := setOf("s", func(s *edictv1.PolicySet) { s.Spec.Holds = []edictv1.Hold{there} })
			f := holdFlags{setClient: setsOf(t, set, mapOf(map[string]string{"one.yaml": marking("one", "a"), "two.yaml": marking("two", "a")})), rule: tc.rule, key: tc.key, reason: "a disk is replaced", lasts: 2 * time.Hour, objects: nodesOf(t)}
			var out strings.Builder
			begin := time.Now()
			err := f.create(t.Context(), &out, tc.of)
			holds := f.read(t, "s").Spec.Holds
			if tc.err != "" {
				if !strings.HasPrefix(says(err), tc.err) || len(holds) != 1 {
					t.Errorf("%v, want %q", err, tc.err)
				}
				return
			}
			if err != nil || len(holds) != 2 {
				t.Fatalf("%v, %d holds", err, len(holds))
			}
			got := holds[1]
			tc.want.Reason, tc.want.By = f.reason, "ann"
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(edictv1.Hold{}, "Name", "Until")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if lasts := got.Until.Sub(begin); lasts < 2*time.Hour-time.Minute || lasts > 2*time.Hour+time.Minute {
				t.Errorf("it lasts %v", lasts)
			}
			if said := out.String(); !strings.HasPrefix(said, tc.note+got.Name+": "+tc.of+" is held until ") || !strings.Contains(said, "edict hold release "+got.Name) {
				t.Errorf("it says %q", said)
			}
		})
	}
}

// TestHoldsAreUsedAsSaid: what is held has a reason and an end.
func TestHoldsAreUsedAsSaid(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--for must be a duration of at most 720h0m0s": {"s", "--reason", "r", "--for", "0s"},
		"--for must be a duration of at most 720h":     {"s", "--reason", "r", "--for", "721h"},
		"--reason says why, and must not be empty":     {"s", "--reason", "", "--for", "1h"},
		`required flag(s) "for" not set`:               {"s", "--reason", "r"},
	} {
		if got := program(t, append([]string{"hold"}, args...)...); got.code != 64 || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: %d, %s", args, got.code, got.stderr)
		}
	}
}

// TestRelease: holds are removed from the sets that have them, and others stay.
func TestRelease(t *testing.T) {
	t.Parallel()
	holds := func(names ...string) (out []edictv1.Hold) {
		for _, name := range names {
			out = append(out, edictv1.Hold{Name: name, Reason: "r", Until: &metav1.Time{}})
		}
		return out
	}
	c := setsOf(t, setOf("s", func(s *edictv1.PolicySet) { s.Spec.Holds = holds("a", "b", "c") }), setOf("t", func(s *edictv1.PolicySet) { s.Spec.Holds = holds("d") }), setOf("u", nil))
	f := holdFlags{setClient: c}
	left := func() (out []string) {
		for _, set := range []string{"s", "t"} {
			for _, h := range c.read(t, set).Spec.Holds {
				out = append(out, h.Name)
			}
		}
		return out
	}
	var out strings.Builder
	if err := f.release(t.Context(), &out, []string{"a", "none"}); says(err) != `nothing is held as "none"` || len(left()) != 4 {
		t.Errorf("%v, %v", err, left())
	}
	if err := f.release(t.Context(), &out, []string{"b", "d"}); err != nil || out.String() != "released: b, d\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	if diff := cmp.Diff([]string{"a", "c"}, left()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestHoldList: holds that have not ended and pauses are listed, with the objects that they keep back.
func TestHoldList(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	until, since, two, three := metav1.NewTime(now.Add(time.Hour)), metav1.NewTime(now.Add(-time.Hour)), int64(2), int64(3)
	s := &clusterSet{PolicySet: *setOf("s", func(s *edictv1.PolicySet) {
		s.Spec.Holds = []edictv1.Hold{
			{Name: "whole", Reason: "r", By: "ann", Until: &until}, {Name: "one", Policy: "one", Rule: "mark", Key: "a", Reason: "q", Until: &until},
			{Name: "over", Reason: "r", Until: &since}, {Name: "ends", Reason: "r", Until: &metav1.Time{Time: now}},
		}
		s.Status.Policies = []edictv1.PolicyStatus{{Name: "one", Withheld: &two}, {Name: "two", Withheld: &three, Message: "too many removals", Pause: &edictv1.Pause{Since: &since, Rule: "mark"}}, {Name: "three"}}
	})}
	want := []heldRow{
		{Kind: "Hold", Namespace: defaultNamespace, Name: "whole", Set: "s", Reason: "r", By: "ann", Until: &until, Objects: 5},
		{Kind: "Hold", Namespace: defaultNamespace, Name: "one", Set: "s", Policy: "one", Rule: "mark", Key: "a", Reason: "q", Until: &until, Objects: 2},
		{Kind: "Pause", Namespace: defaultNamespace, Set: "s", Policy: "two", Rule: "mark", Reason: "too many removals", Since: &since, Objects: 3},
	}
	rows := heldRows([]*clusterSet{s, {PolicySet: *setOf("t", nil)}}, now)
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var out strings.Builder
	if err := printHoldTable(&out, rows); err != nil || strings.Count(out.String(), "\n") != 4 || !strings.Contains(out.String(), "2026-01-01T13:00:00Z") || !strings.Contains(out.String(), "too many removals") {
		t.Errorf("%v:\n%s", err, out.String())
	}
	out.Reset()
	if err := printHoldTable(&out, nil); err != nil || out.String() != "Nothing is held or paused.\n" {
		t.Errorf("%v: %s", err, out.String())
	}
}
