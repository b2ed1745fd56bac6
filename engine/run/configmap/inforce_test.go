package configmap

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/source"
)

// policy is a policy that gives Nodes the label x; more goes into its spec.
func policy(name, value, more string) string {
	return fmt.Sprintf("apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: %s}\nspec:\n%s  params: {p: a}\n  for: {apiVersion: v1, kind: Node}\n"+
		"  rules:\n    - name: mark\n      do: [{labels: {set: {x: %s}}}]\n", name, more, value)
}

func holding(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", Labels: map[string]string{v1alpha1.LabelPolicy: "true"}, Annotations: map[string]string{}},
		Data:       map[string]string{"p.yaml": text},
	}
}

// keptRevision is the history of a policy.
func keptRevision(t *testing.T, u *source.Unit) runtime.Object {
	t.Helper()
	e := &history.Entry{Copy: history.CopyOf(u), Number: 1, Result: history.Active, Edited: time.Unix(0, 0)}
	o, err := e.Object("ns")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestReadInForce: what decides is the revision that the controller has noted, where the
// text of a ConfigMap is not the one in force.
func TestReadInForce(t *testing.T) {
	t.Parallel()
	old := policy("p", "old", "")
	was := Of(holding(old)).Read().Units[0]
	runs := "p=" + was.Revision()
	typed := compile.TypedOverrides(map[string]map[string]string{"p": {"p": "typed"}}, "")
	differing := func(kept bool) []Differing { return []Differing{{"p", was.Revision(), "ns/m", kept}} }
	idle := []Differing{{"p", "", "ns/m", false}}
	for name, tc := range map[string]struct {
		text, running string
		kept          bool
		typed         compile.Overrides
		want          string // the label that the policy gives; "" is that there is no policy
		differing     []Differing
	}{
		"the text is in force":          {old, runs, true, nil, "old", nil},
		"with a value that is typed":    {old, runs, true, typed, "old", nil},
		"nothing is noted":              {old, "", true, nil, "old", nil},
		"nothing of it runs":            {policy("p", "new", ""), "q=" + was.Revision(), true, nil, "new", idle},
		"the text is refused":           {policy("p", "new", "  nonsense: 1\n"), runs, true, nil, "old", differing(true)},
		"the same, with a typed value":  {policy("p", "new", "  nonsense: 1\n"), runs, true, typed, "old", differing(true)},
		"the text cannot be read":       {"a: [", runs, true, nil, "old", differing(true)},
		"it waits":                      {policy("p", "new", ""), runs, true, nil, "old", differing(true)},
		"it is not kept":                {policy("p", "new", ""), runs, false, nil, "new", differing(false)},
		"it is disabled":                {policy("p", "new", "  mode: Disabled\n"), runs, true, nil, "new", nil},
		"disabled, and stopped":         {policy("p", "new", "  mode: Disabled\n"), "q=" + was.Revision(), true, nil, "new", nil},
		"it is gone":                    {policy("q", "new", ""), runs, true, nil, "", []Differing{{"q", "", "ns/m", false}}},
		"it runs in Shadow mode":        {policy("p", "new", ""), "p@shadow=" + was.Revision(), true, nil, "new", idle},
		"more runs than could be noted": {policy("p", "new", ""), "...", true, nil, "new", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := holding(tc.text)
			m.Annotations[v1alpha1.AnnotationPolicies] = tc.running
			if tc.running != "" {
				m.Annotations[v1alpha1.AnnotationStatus] = "Refused"
			}
			objects := []runtime.Object{m}
			if tc.kept {
				objects = append(objects, keptRevision(t, was))
			}
			c, differing, err := ReadInForce(t.Context(), fake.NewClientset(objects...), "ns", tc.typed)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.differing, differing); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			u := c.Units["p"]
			if (u == nil) != (tc.want == "") {
				t.Fatalf("the policy is %v", u)
			}
			if u == nil {
				return
			}
			if !strings.Contains(string(u.File.Text), "{x: "+tc.want+"}") || c.Origins["p"].Name != "m" {
				t.Errorf("from %s:\n%s", c.Origins["p"].Name, u.File.Text)
			}
			if given := u.Overrides["p"].Text; (tc.typed != nil) != (given == "typed") {
				t.Errorf("the param is given as %q", given)
			}
		})
	}
}

// TestReadInForceOfAMovedPolicy: a revision that was kept when the policy was in another
// ConfigMap, which is gone, belongs to the one that it is in now.
func TestReadInForceOfAMovedPolicy(t *testing.T) {
	t.Parallel()
	before := holding(policy("p", "old", ""))
	before.Name = "before"
	was := Of(before).Read().Units[0]
	m := holding(policy("p", "new", ""))
	m.Annotations[v1alpha1.AnnotationPolicies] = "p=" + was.Revision()
	c, differing, err := ReadInForce(t.Context(), fake.NewClientset(m, keptRevision(t, was)), "ns", nil)
	if err != nil {
		t.Fatal(err)
	}
	if origin := c.Origins["p"]; len(differing) != 1 || !differing[0].Kept || origin == nil || origin.Name != "m" {
		t.Errorf("from %+v, %+v", origin, differing)
	}
}

// TestReadJudged: a text that the controller has not read yet is taken, and one that it has
// read and that is not in force is not.
func TestReadJudged(t *testing.T) {
	t.Parallel()
	was := Of(holding(policy("p", "old", ""))).Read().Units[0]
	for name, tc := range map[string]struct {
		read bool
		want string
	}{
		"not read yet": {false, "new"}, "not in force": {true, "old"},
	} {
		m := holding(policy("p", "new", ""))
		m.Annotations[v1alpha1.AnnotationPolicies] = "p=" + was.Revision()
		if tc.read {
			m.Annotations[v1alpha1.AnnotationRevision] = Of(m).Revision()
			m.Annotations[v1alpha1.AnnotationObserved] = present(m, source.NewCatalog([]*source.Contents{Of(m).Read()}, nil, nil))
		}
		c, differing, err := ReadJudged(t.Context(), fake.NewClientset(m, keptRevision(t, was)), "ns", nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(c.Units["p"].File.Text); !strings.Contains(text, "{x: "+tc.want+"}") || (len(differing) > 0) != tc.read {
			t.Errorf("%s: %v\n%s", name, differing, text)
		}
	}
}
