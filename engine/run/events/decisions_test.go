package events

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/status"
	"github.com/edict-dev/edict/engine/world"
	"github.com/edict-dev/edict/test/fixture"
)

const choosing = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: place}
spec:
  mode: MODE
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: check
      when: object.metadata.?labels.fail.hasValue()
      do: [{fail: "${object.metadata.labels.fail}"}]
    - name: choose
      do:
        - select:
            candidates: [{as: zone, in: "object.metadata.?labels.zone.hasValue() ? ['a'] : []"}]
            then: [{log: {message: "${zone}"}}]
`

const secret = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: leak}
spec:
  for: {apiVersion: v1, kind: Secret}
  rules: [{name: tell, when: "object.data.password != ''", do: [{fail: "${object.data.password}"}]}]
`

// stage has a policy, and records the Events about its decisions.
type stage struct {
	t          *testing.T
	group      *reconcile.Group
	controller *reconcile.Controller
	decisions  *Decisions
	recorder   *record.FakeRecorder
	version    int
}

func newStage(t *testing.T, policy string) *stage {
	t.Helper()
	b := fixture.Compiled(t, strings.Replace(policy, "MODE", "Enforce", 1))
	s := &stage{t: t, group: reconcile.NewGroup(world.NewStore(), nil, b.Schemas), recorder: record.NewFakeRecorder(2000)}
	s.group.SetGuard(guard.New(nil).Assuming())
	b.Policies[0].SeeValues(schema.GVK{APIVersion: "v1", Kind: "Secret"})
	s.controller, s.decisions = s.group.Add(b.Policies[0]), NewDecisions(s.recorder)
	return s
}

// decide decides about an object with labels at a time, and returns the Events.
func (s *stage) decide(name string, labels map[string]any, at time.Time) []string {
	s.t.Helper()
	s.version++
	for _, source := range s.group.AllSources() {
		s.group.Put(s.t.Context(), source, map[string]any{"metadata": map[string]any{"name": name, "uid": name, "resourceVersion": fmt.Sprint(s.version), "labels": labels},
			"data": map[string]any{"password": "c2VzYW1l"}})
	}
	r := s.controller.Reconcile(s.t.Context(), eval.Key{Name: name}, at)
	s.decisions.Note(s.t.Context(), &r, at)
	return s.recorded()
}

func (s *stage) recorded() (out []string) {
	for len(s.recorder.Events) > 0 {
		out = append(out, <-s.recorder.Events)
	}
	return out
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestDecisions: an Event is recorded when the outcome changes, and not again for the
// same reason within ten minutes.
func TestDecisions(t *testing.T) {
	t.Parallel()
	s := newStage(t, choosing)
	zone, none, fails := map[string]any{"zone": "a"}, map[string]any{}, map[string]any{"fail": "no disk", "zone": "a"}
	for i, step := range []struct {
		minutes int
		labels  map[string]any
		want    string
	}{
		{0, zone, ""},
		{1, none, "Warning NothingSelected"},
		{2, none, ""},
		{3, zone, "Normal Selected"},
		{4, none, ""}, // told three minutes ago
		{5, zone, ""}, // and nothing was told since
		{6, fails, "Warning RuleFailed"},
		{7, none, ""},
		{8, zone, ""},
		{12, none, "Warning NothingSelected"},
		{40, fails, "Warning RuleFailed"},
		{41, zone, "Normal Recovered"},
	} {
		got := strings.Join(s.decide("n", step.labels, noon.Add(time.Duration(step.minutes)*time.Minute)), "\n")
		if step.want == "" && got != "" || !strings.HasPrefix(got, step.want) {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
		if strings.Contains(step.want, RuleFailed) && (!strings.Contains(got, `Policy place: Node n: the rule "check" failed`) || !strings.Contains(got, "no disk") || !strings.Contains(got, "reconcileID ")) {
			t.Errorf("step %d does not say why: %s", i, got)
		}
	}
	s.decisions.Forget("ns/place")
	s.decisions.Forget(s.controller.Policy.ID())
	if len(s.decisions.policies) > 0 {
		t.Error("what was recorded is kept after the policy")
	}
}

// TestDecisionsAreBounded: a policy that fails for all objects records at most ten
// Events at once and one a second; what was not told is told by a later decision.
func TestDecisionsAreBounded(t *testing.T) {
	t.Parallel()
	s := newStage(t, choosing)
	all := func(at time.Time) (n int) {
		for i := range 100 {
			n += len(s.decide(fmt.Sprint("n", i), map[string]any{"fail": "x"}, at))
		}
		return n
	}
	got := []int{all(noon), all(noon), all(noon.Add(time.Second)), all(noon.Add(6 * time.Second))}
	if d := cmp.Diff([]int{decisionBurst, 0, 1, 5}, got); d != "" {
		t.Errorf("Events (-want +got):\n%s", d)
	}
	for _, text := range s.decide("long", map[string]any{"fail": strings.Repeat("x", 5000)}, noon.Add(time.Hour)) {
		if message := strings.TrimPrefix(text, "Warning RuleFailed "); len(message) > status.MaxEventMessage || !strings.Contains(message, "reconcileID") {
			t.Errorf("%d bytes: %s", len(message), message)
		}
	}
}

// TestDecisionsOfShadows: nothing is recorded for policies in Shadow mode.
func TestDecisionsOfShadows(t *testing.T) {
	t.Parallel()
	s := newStage(t, strings.Replace(choosing, "MODE", "Shadow", 1))
	if got := s.decide("n", map[string]any{"fail": "x"}, noon); len(got) > 0 {
		t.Error(got)
	}
	var off *Decisions
	off.Note(t.Context(), &reconcile.Result{}, noon)
	off.Forget("p")
}

// TestDecisionsHideSecrets: the message has no value of a Secret.
func TestDecisionsHideSecrets(t *testing.T) {
	t.Parallel()
	s := newStage(t, secret)
	got := s.decide("s", nil, noon)
	r := s.controller.Reconcile(t.Context(), eval.Key{Name: "s"}, noon)
	if !strings.Contains(fmt.Sprint(r.Final), "c2VzYW1l") {
		t.Fatalf("the test needs an error with the value: %v", r.Final)
	}
	if len(got) != 1 || strings.Contains(got[0], "c2VzYW1l") {
		t.Errorf("%q", got)
	}
}

// TestTransient: an error that another try may solve is recorded when it lasts.
func TestTransient(t *testing.T) {
	t.Parallel()
	d := NewDecisions(record.NewFakeRecorder(1))
	problem := eval.Problem{Err: fmt.Errorf("asking: %w", context.DeadlineExceeded)}
	r := &reconcile.Result{Decision: &eval.Decision{Problems: []eval.Problem{problem}}}
	got := []string{}
	for _, seconds := range []int{0, 1, 2, 3} {
		got = append(got, d.news("p", eval.Key{Name: "n"}, r, noon.Add(time.Duration(seconds)*time.Second)))
	}
	if diff := cmp.Diff([]string{"", "", RuleFailed, ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
