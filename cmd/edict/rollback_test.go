package main

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/run/configmap"
)

// TestRestoreLeavesOthersEditsAlone: what is written holds for the ConfigMap as
// it was read, and nothing else.
func TestRestoreLeavesOthersEditsAlone(t *testing.T) {
	t.Parallel()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", UID: "u", ResourceVersion: "7"}, Data: map[string]string{"p.yaml": "now", "p.rego": "now"}}
	client := fake.NewClientset(m)
	changed := false
	client.PrependReactor("patch", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		patch, ok := a.(clienttesting.PatchAction)
		if !ok {
			t.Fatal(a)
		}
		var body struct {
			Metadata struct{ UID, ResourceVersion string }
			Data     map[string]*string
		}
		if err := json.Unmarshal(patch.GetPatch(), &body); err != nil {
			t.Fatal(err)
		}
		if body.Metadata.UID != "u" || body.Metadata.ResourceVersion != "7" || len(body.Data) != 2 || *body.Data["p.yaml"] != "was" || body.Data["p.rego"] != nil {
			t.Errorf("%s", patch.GetPatch())
		}
		if changed {
			return true, nil, apierrors.NewConflict(kschema.GroupResource{Resource: "configmaps"}, "m", nil)
		}
		return true, m, nil
	})
	was := "was"
	changes := map[string]*string{"p.yaml": &was, "p.rego": nil}
	if err := restore(t.Context(), client, m, changes); err != nil {
		t.Error(err)
	}
	changed = true
	if err := restore(t.Context(), client, m, changes); err == nil || !strings.Contains(err.Error(), "the ConfigMap ns/m has changed meanwhile, and nothing was written") {
		t.Error(err)
	}
	var out strings.Builder
	e := &history.Entry{Copy: history.Copy{Policy: "p", Revision: "abc", Overrides: map[string]compile.Override{"a": {Text: "1"}}}, Number: 3, Author: "helm", Edited: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	w := &written{configMap: m, entry: e, newest: &history.Entry{}, changes: changes}
	if err := printRollback(&out, w); err != nil {
		t.Fatal(err)
	}
	want := "p: the revision 3 (abc, edited 2026-01-01T00:00:00Z by helm) is written into the ConfigMap ns/m\n  p.rego: removed\n  p.yaml: written\n" +
		"the values given for params were a=1, and are not changed: they are in the ConfigMaps labelled edict.dev/params\n"
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
}

// TestRollbackSaysHowItComesIntoForce: at once if the text was in force, and else in the
// steps that the ConfigMap has.
func TestRollbackSaysHowItComesIntoForce(t *testing.T) {
	t.Parallel()
	steps := map[string]string{v1alpha1.AnnotationRollout: "steps: [{percent: 5}]\ninterval: 10m\n"}
	for name, tc := range map[string]struct {
		annotations map[string]string
		wasInForce  bool
		want        string
	}{
		"no steps":                   {nil, true, ""},
		"it was in force":            {steps, true, "it was in force before, so it comes into force at once, without the steps of the annotation edict.dev/rollout\n"},
		"it was not, without steps":  {nil, false, ""},
		"it was not, and with steps": {steps, false, "it was never in force for all objects, so it comes into force in the steps of the annotation edict.dev/rollout; without the annotation it does at once\n"},
	} {
		w := &written{configMap: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}}, wasInForce: tc.wasInForce}
		if got := w.stepsNote(); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// TestHistoryOutput: the newest comes first, and one of each policy is in force.
func TestHistoryOutput(t *testing.T) {
	t.Parallel()
	entry := func(number int64, revision string, result history.Result) *history.Entry {
		return &history.Entry{Copy: history.Copy{Policy: "p", Revision: revision, File: "ns/m/p.yaml"}, Number: number, Result: result, Author: "helm", Edited: time.Date(2026, 1, 1, int(number), 0, 0, 0, time.UTC)}
	}
	list := []*history.Entry{entry(1, "aaa", history.Active), entry(2, "bbb", history.RolledBack), entry(3, "aaa", history.Active), entry(4, "ccc", history.Waiting)}
	list[3].Overrides = map[string]compile.Override{"a": {Value: []any{"x"}}}
	var out strings.Builder
	if err := printHistory(&out, shownHistory(list, []string{"q=aaa", "p=aaa"})); err != nil {
		t.Fatal(err)
	}
	want := `POLICY  NUMBER  REVISION  RESULT      IN FORCE  EDITED                AUTHOR  CONFIGMAP/KEY  VALUES
p       4       ccc       Waiting               2026-01-01T04:00:00Z  helm    m/p.yaml       a=["x"]
p       3       aaa       Active      yes       2026-01-01T03:00:00Z  helm    m/p.yaml
p       2       bbb       RolledBack            2026-01-01T02:00:00Z  helm    m/p.yaml
p       1       aaa       Active                2026-01-01T01:00:00Z  helm    m/p.yaml
`
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
	if _, err := chosen(list, 9, nil); err == nil || !strings.Contains(err.Error(), "those from 1 to 4 are kept") {
		t.Error(err)
	}
}

// TestHistoryWhileARevisionComes: one of each policy is in force also while another one
// comes into force between two requests. The controller keeps it before it says that it
// runs.
func TestHistoryWhileARevisionComes(t *testing.T) {
	t.Parallel()
	cluster := refused(t)
	m := &cluster.configMaps[0]
	m.Data["one.yaml"] = marking("one", "new")
	coming := configmap.Of(m).Read().Units[0]
	e := &history.Entry{Copy: history.CopyOf(coming), Number: 2, Result: history.Active}
	o, err := e.Object(m.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	cluster.listed = func(string) {
		once.Do(func() {
			cluster.revisions = append(cluster.revisions, *o)
			m.Annotations = map[string]string{v1alpha1.AnnotationStatus: "Active", v1alpha1.AnnotationPolicies: "one=" + coming.Revision()}
		})
	}
	var shown []shownEntry
	got := program(t, "history", "one", "-o", "json", "--policy-namespace", "edict-system", "--kubeconfig", cluster.start(t))
	if err := json.Unmarshal([]byte(got.stdout), &shown); err != nil {
		t.Fatalf("%v: %s%s", err, got.stdout, got.stderr)
	}
	inForce := 0
	for i := range shown {
		if shown[i].InForce {
			inForce++
		}
	}
	if inForce != 1 {
		t.Errorf("%d revisions are in force:\n%s", inForce, got.stdout)
	}
}
