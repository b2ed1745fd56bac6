package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/brake"
)

// holding is a cluster with a policy, a pause of it and two holds.
func holding(t *testing.T) (*holdFlags, *fake.Clientset) {
	t.Helper()
	meta := func(name, label string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{label: "true"}}
	}
	record := brake.Record{
		Pauses: []brake.Pause{{Policy: "p", Reason: brake.RemovalLimit, Message: "too much", Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}},
		Kept: []brake.KeptRecord{
			{Key: "a", Reason: brake.RemovalLimit, Rules: []string{"r"}, Writes: []string{"delete Pod a"}},
			{Key: "b", Reason: brake.Held, Hold: "one", Rules: []string{"r"}, Writes: []string{"patch Node b"}},
		},
		Objects: map[brake.Reason]int{brake.RemovalLimit: 7, brake.Held: 1}, Holds: map[string]int{"one": 1},
	}
	client := fake.NewClientset(
		&corev1.ConfigMap{ObjectMeta: meta("policies", v1alpha1.LabelPolicy), Data: map[string]string{
			"p.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [{labels: {set: {a: b}}}]}]\n"}},
		&corev1.ConfigMap{ObjectMeta: meta(brake.RecordsName, brake.LabelBrakes), Data: map[string]string{"p": record.Text()}},
		&corev1.ConfigMap{ObjectMeta: meta(brake.HoldsName, brake.LabelBrakes), Data: map[string]string{
			"one": `{"policy":"p","key":"b","reason":"why","by":"me","until":"2126-01-01T00:00:00Z"}`,
			"two": `{"policy":"q","rule":"r","reason":"why","by":"me","until":"2126-01-01T00:00:00Z"}`,
			"old": `{"policy":"q","reason":"why","by":"me","until":"2026-01-01T00:00:00Z"}`,
		}})
	return &holdFlags{brakesClient: brakesClient{namespace: "ns", client: client}}, client
}

func data(t *testing.T, f *holdFlags, name string) map[string]string {
	t.Helper()
	m, err := f.read(t.Context(), name)
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	return m.Data
}

// TestHoldList: what is held and paused, with what each keeps back.
func TestHoldList(t *testing.T) {
	t.Parallel()
	f, _ := holding(t)
	rows, err := f.list(t.Context(), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := printHolds(&out, "table", rows); err != nil {
		t.Fatal(err)
	}
	want := `KIND   NAME  POLICY  RULE  KEY  UNTIL                 BY  OBJECTS  REASON
Hold   one   p             b    2126-01-01T00:00:00Z  me  1        why
Hold   two   q       r          2126-01-01T00:00:00Z  me  0        why
Pause        p                  resumed                   7        too much
  p b: patch Node b
  p a: delete Pod a
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	if err := printHolds(&out, "xml", nil); err == nil {
		t.Error("any output is taken")
	}
}

// TestHoldRelease: by name, by what is held, and all; what is not held is an
// error that changes nothing.
func TestHoldRelease(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		names []string
		set   func(*holdFlags)
		want  []string
		err   string
	}{
		"by name":          {names: []string{"two"}, want: []string{"two"}},
		"by policy":        {set: func(f *holdFlags) { f.policy = "q" }, want: []string{"old", "two"}},
		"by rule":          {set: func(f *holdFlags) { f.policy, f.rule = "q", "r" }, want: []string{"two"}},
		"by key":           {set: func(f *holdFlags) { f.policy, f.key = "p", "b" }, want: []string{"one"}},
		"all":              {set: func(f *holdFlags) { f.all = true }, want: []string{"old", "one", "two"}},
		"a typo":           {names: []string{"tow"}, err: `did you mean "two"?`},
		"nothing":          {set: func(f *holdFlags) { f.policy = "none" }, err: "nothing of that is held"},
		"one that is none": {names: []string{"one", "none"}, err: `"none"`},
	} {
		f, _ := holding(t)
		if tc.set != nil {
			tc.set(f)
		}
		got, err := f.release(t.Context(), tc.names)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(data(t, f, brake.HoldsName)); n != 3-len(tc.want) {
			t.Errorf("%s: %d are left", name, n)
		}
	}
}

// TestResume: the wish is written beside the pauses, also when somebody else
// writes meanwhile.
func TestResume(t *testing.T) {
	t.Parallel()
	f, client := holding(t)
	conflicts := 0
	client.PrependReactor("patch", "configmaps", func(k8stesting.Action) (bool, runtime.Object, error) {
		conflicts++
		if conflicts > 2 {
			return false, nil, nil
		}
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, brake.RecordsName, nil)
	})
	if n, err := f.resume(t.Context(), "p"); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	r, err := brake.ParseRecord("p", data(t, f, brake.RecordsName)["p"])
	if err != nil || r.Resumed == nil || r.Resumed.By == "" || len(r.Pauses) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if err := f.change(t.Context(), brake.RecordsName, func(*corev1.ConfigMap) (map[string]*string, error) { return map[string]*string{"p": nil}, nil }); err != nil {
		t.Fatal(err)
	}
	for policy, want := range map[string]string{"p": "p: it is not paused", "q": `there is no policy "q" in the ConfigMaps of ns; the policies are p`} {
		if _, err := f.resume(t.Context(), policy); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestHoldFlags: what is wrong is said before anything is asked of a cluster.
func TestHoldFlags(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]holdFlags{
		"no end": {policy: "p", reason: "r"}, "no reason": {policy: "p", lasts: time.Hour}, "no policy": {reason: "r", lasts: time.Hour}, "for ever": {policy: "p", reason: "r", lasts: 1000 * time.Hour},
	} {
		if h, err := f.hold(); err == nil {
			t.Errorf("%s: %+v", name, h)
		}
	}
	f := holdFlags{policy: "p", rule: "r", key: "a/b", reason: "why", lasts: time.Hour}
	h, err := f.hold()
	if err != nil || h.Until.Sub(h.Since) != time.Hour || !strings.HasPrefix(h.Name, "p-") || h.String() != `the rule "r" of the policy p for a/b` {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestHoldExists: a hold with a typo would hold nothing.
func TestHoldExists(t *testing.T) {
	t.Parallel()
	f, _ := holding(t)
	for want, h := range map[string]brake.Hold{
		"":                        {Policy: "p", Rule: "r"},
		`there is no policy "x"`:  {Policy: "x"},
		`p has no rule "no-rule"`: {Policy: "p", Rule: "no-rule"},
	} {
		if _, err := f.exists(t.Context(), &h); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

// TestHoldKey: a key that no object of the kind can have is refused, and nothing is
// written; one that no object has now is held, and that is said.
func TestHoldKey(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind, key string
		refused   bool
		want      string
	}{
		"a Node":                      {"Node", "b", false, ""},
		"no such Node":                {"Node", "c", false, "there is no Node c now: nothing is held until there is one\n"},
		"a Node in a namespace":       {"Node", "work/b", true, "which are in none: give it as NAME, such as b"},
		"a Pod":                       {"Pod", "work/b", false, ""},
		"no such Pod":                 {"Pod", "work/c", false, "there is no Pod work/c now"},
		"a Pod in no namespace":       {"Pod", "b", true, "which are in namespaces: give it as NAMESPACE/b"},
		"a Pod in an empty namespace": {"Pod", "/b", true, "--key /b is not NAMESPACE/NAME"},
		"a Pod without a name":        {"Pod", "work/", true, "--key work/ is not NAMESPACE/NAME"},
		"more than a Pod":             {"Pod", "work/b/c", true, "--key work/b/c is not NAMESPACE/NAME"},
		"a kind that is not served":   {"Job", "b", false, "whether there is a Job b is not known"},
		"what may not be read":        {"Secret", "work/b", false, "whether there is a Secret work/b is not known"},
	} {
		f, client := holding(t)
		m, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), "policies", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m.Data["p.yaml"] = strings.Replace(m.Data["p.yaml"], "kind: Node", "kind: "+tc.kind, 1)
		if _, err := client.CoreV1().ConfigMaps("ns").Update(t.Context(), m, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.objects = nodeAndPod()
		var out bytes.Buffer
		err = f.create(t.Context(), &out, &brake.Hold{Name: "new", Policy: "p", Key: tc.key, Until: time.Now().Add(time.Hour)})
		said := out.String()
		if err != nil {
			said = err.Error()
		}
		if _, held := data(t, f, brake.HoldsName)["new"]; (err != nil) != tc.refused || held == tc.refused || !strings.Contains(said, tc.want) || tc.want == "" && !strings.HasPrefix(said, "new: ") {
			t.Errorf("%s: %v, held: %t, %q", name, err, held, out.String())
		}
	}
}

// nodeAndPod is a cluster of the Node b and the Pod work/b, in which nobody may read
// Secrets.
func nodeAndPod() *objects {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Node"}, meta.RESTScopeRoot)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, meta.RESTScopeNamespace)
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		panic(err) // it is the library's own
	}
	object := func(kind, namespace string) runtime.Object {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "b"}}
	}
	client := metadatafake.NewSimpleMetadataClient(scheme, object("Node", ""), object("Pod", "work"))
	client.PrependReactor("get", "secrets", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "b", nil)
	})
	return &objects{mapper: mapper, client: client}
}

// TestCommandsOfMessages: what messages tell a person to call is a command as it stands,
// and so are the commands about an installation without a namespace.
func TestCommandsOfMessages(t *testing.T) {
	t.Parallel()
	commands := regexp.MustCompile(`edict (resume|rollback) \S+ --policy-namespace \S+`).FindAllString((&brake.Pause{Policy: "p"}).Text("ns"), -1)
	if len(commands) != 2 {
		t.Errorf("the message of a pause has the commands %q", commands)
	}
	for _, command := range append(commands, "edict resume p", "edict rollback p", "edict history", "edict history p", "edict wait p", "edict hold list", "edict hold release --all") {
		got := program(t, append(strings.Fields(command)[1:], "--kubeconfig", "nothing")...)
		if got.code != 1 || !strings.Contains(got.stderr, "nothing") {
			t.Errorf("%s: exit code %d: %s", command, got.code, got.stderr)
		}
	}
}
