package policies

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/run/check"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
)

const inSteps = "steps: [{percent: 10}, {percent: 50}]\ninterval: 10m\nstop: {disagreements: 20}\n"

// fakeSteps is what runs the revisions: it reports what a test tells it.
type fakeSteps struct {
	report reconcile.RolloutReport
	shares []int
	// stored returns the annotation when a step begins.
	stored  func() string
	stopped string
	// divided reports that other replicas decide about some objects.
	divided bool
}

func (f *fakeSteps) Rollout(string) (reconcile.RolloutReport, bool) {
	return f.report, f.report.Revision != ""
}

func (f *fakeSteps) Advance(_, _ string, share rollout.Share) {
	f.shares = append(f.shares, len(share))
	if !strings.Contains(f.stored(), fmt.Sprintf(`"step":%d,`, len(share))) {
		panic("a step begins before it is stored: " + f.stored())
	}
}

func (f *fakeSteps) WritesStopped(string) string { return f.stopped }

func (f *fakeSteps) Undivided(string) bool { return !f.divided }

// rolled is the ConfigMap of a policy and a process that leads.
type rolled struct {
	*managed
	client   *fake.Clientset
	steps    *fakeSteps
	brakes   brake.State
	now      time.Time
	starting bool
	fails    bool
	// keeps has the history kept in the cluster, as the manager does.
	keeps bool
	// values are those for the params of the policy.
	values []*source.Values
	// last is the ConfigMap that was looked at last.
	last *source.ConfigMap
}

func newRolled(t *testing.T) *rolled {
	t.Helper()
	r := &rolled{client: newClient(), now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	r.client.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		if r.fails {
			return true, nil, errors.New("no")
		}
		return false, nil, nil
	})
	if _, err := r.client.CoreV1().ConfigMaps("ns").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", UID: "m", Labels: map[string]string{v1alpha1.LabelPolicy: "true"}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.lead(t, nil)
	return r
}

// lead makes another process the leader, which finds what the one before has left.
func (r *rolled) lead(t *testing.T, kept map[string][]*history.Entry) {
	t.Helper()
	r.managed, r.starting = newManaged(t), true
	if kept != nil {
		r.history.entries = kept
	}
	if r.history.client = r.client; r.keeps {
		if err := r.history.read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.steps = &fakeSteps{stored: r.annotation}
	r.assigner.rollouts = newRollouts(rolloutOptions{
		policies: r.policies, history: r.history, steps: r.steps, brakes: func(string) *brake.State { return &r.brakes }, client: r.client, namespace: "ns", log: fixture.Log(),
	})
	r.history.stepped = r.assigner.rollouts.stepped
	r.assigner.annotations = func(*source.ConfigMap) (map[string]string, string) { return r.annotations(), "" }
	if err := r.assigner.rollouts.read(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// annotation returns the status annotation.
func (r *rolled) annotation() string { return r.annotations()[v1alpha1.AnnotationRolloutStatus] }

func (r *rolled) annotations() map[string]string {
	m, err := r.client.CoreV1().ConfigMaps("ns").Get(context.Background(), "m", metav1.GetOptions{})
	if err != nil {
		panic(err)
	}
	return m.Annotations
}

// look looks at the ConfigMap with a text and an annotation, lets the controller of the
// policy report, and returns what runs: "new", or "new beside old".
func (r *rolled) look(value, annotation string) string {
	r.t.Helper()
	m := fixture.Labelling(value)
	m.Rollout = annotation
	return r.lookAt(m)
}

// lookAt is look for a ConfigMap as it is.
func (r *rolled) lookAt(m *source.ConfigMap) string {
	r.t.Helper()
	r.last = m
	c := source.NewCatalog([]*source.Contents{m.Read()}, r.values, nil)
	r.history.hold(c, r.policies)
	all := r.assigner.rollouts
	all.retry(c)
	r.checker.All(r.t.Context(), c, r.policies, func(string, *source.Unit) bool { return false })
	r.test(c)
	all.update(c)
	if r.keeps {
		all.confirm(r.t.Context(), c)
	}
	r.assigner.starting = r.starting
	rev := r.assigner.wanted("p", c)
	r.starting = false
	if rev == nil {
		r.policies.Stop("p")
		r.policies.End("p", r.policies.Ticket("p"))
	} else if r.policies.Assign("p", rev, false) {
		r.begin(rev)
	}
	if r.keeps && r.history.keep(r.t.Context(), c, r.policies) {
		r.t.Error("the history cannot be kept")
	}
	r.show()
	if rev == nil {
		return "nothing"
	}
	out := textOf(rev)
	if rev.Staged != nil {
		out += " beside " + textOf(rev.Staged.From)
	}
	return out
}

// test runs the tests beside the policy.
func (r *rolled) test(c *source.Catalog) {
	tests := check.NewTestRunner(r.checker)
	tests.Next(r.t.Context(), c, r.policies, func(run func()) {
		run()
		tests.Complete(<-tests.Ended(), r.policies)
	})
}

// begin reports as a controller does that was given a revision.
func (r *rolled) begin(rev *lifecycle.Revision) {
	report := lifecycle.Report{Event: lifecycle.Activated, InForce: rev.Unit.Revision()}
	r.steps.report = reconcile.RolloutReport{}
	if rev.Staged != nil {
		report = lifecycle.Report{Event: lifecycle.Begun, InForce: rev.Staged.From.Unit.Revision()}
		r.steps.report = reconcile.RolloutReport{Revision: rev.Unit.Revision(), Keys: 100, Todo: 100}
	} else if !r.keeps {
		r.history.entries["p"] = append(r.history.entries["p"], &history.Entry{Copy: history.CopyOf(rev.Unit), Result: history.Active})
	}
	r.policies.Report("p", r.policies.Ticket("p"), report, r.now)
}

// show writes the status annotation, as the manager does.
func (r *rolled) show() {
	m, err := r.client.CoreV1().ConfigMaps("ns").Get(r.t.Context(), "m", metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	m.Annotations = map[string]string{v1alpha1.AnnotationRolloutStatus: r.assigner.rollouts.text("ns/m")}
	if runs := r.policies.Get("p").Report.InForce; runs != "" {
		m.Annotations[v1alpha1.AnnotationPolicies] = "p=" + runs
	}
	if _, err := r.client.CoreV1().ConfigMaps("ns").Update(r.t.Context(), m, metav1.UpdateOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// textOf returns the value of the label in the text of a revision.
func textOf(rev *lifecycle.Revision) string {
	_, rest, _ := strings.Cut(string(rev.Unit.File.Text), `set: {p: "`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// tick lets time pass, and returns the rollout in a few words.
func (r *rolled) tick(d time.Duration) string {
	r.now = r.now.Add(d)
	r.assigner.rollouts.check(r.t.Context(), r.now)
	now := r.assigner.rollouts.active["p"]
	switch {
	case now == nil:
		return "none"
	case now.finished:
		return "finished"
	}
	out := fmt.Sprint(now.status.State, " ", now.status.Step)
	if now.status.Next != nil {
		out += " next in " + now.status.Next.Sub(r.now).String()
	}
	if now.status.Waiting != "" {
		out += " waiting"
	}
	return out
}

// decided reports that all keys are decided about, with some disagreements.
func (r *rolled) decided(disagreements int) {
	r.steps.report.Todo, r.steps.report.Disagreements, r.steps.report.Differing = 0, disagreements, "n1: it differs"
}

func (r *rolled) want(what, got, want string) {
	r.t.Helper()
	if got != want {
		r.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// rolling returns a process in which a rollout is compared.
func rolling(t *testing.T) *rolled {
	t.Helper()
	r := newRolled(t)
	r.want("the first revision, with nothing to lead from", r.look("old", inSteps), "old")
	r.want("an edit", r.look("new", inSteps), "new beside old")
	return r
}

// TestRolloutsStep: each step is stored before it begins, and begins an interval after
// the one before has come into force.
func TestRolloutsStep(t *testing.T) {
	t.Parallel()
	r := rolling(t)
	r.want("not compared", r.tick(time.Hour), "Comparing 0 waiting")
	r.decided(20)
	r.want("compared", r.tick(time.Second), "RollingOut 1")
	r.steps.report.Todo = 10
	r.want("step 1 begins", r.tick(time.Hour), "RollingOut 1 waiting")
	r.decided(20)
	r.want("step 1 is in force", r.tick(time.Second), "RollingOut 1 next in 10m0s")
	r.want("an interval, not quite", r.tick(10*time.Minute-time.Second), "RollingOut 1 next in 1s")
	r.fails = true
	r.want("it cannot be stored", r.tick(time.Second), "RollingOut 1 next in 0s")
	r.fails = false
	r.want("an interval", r.tick(time.Second), "RollingOut 2")
	r.want("step 2 is in force", r.tick(time.Second), "RollingOut 2 next in 10m0s")
	r.want("the last step is over", r.tick(10*time.Minute), "finished")
	r.want("it is alone", r.look("new", inSteps), "new")
	r.want("and in force", r.look("new", inSteps), "new")
	r.want("there is no rollout", r.tick(time.Hour)+r.annotation(), "none")
	if d := cmp.Diff([]int{1, 2}, r.steps.shares); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if n := len(r.assigner.rollouts.takeNews()); n != 2 {
		t.Errorf("%d Events, want one per step", n)
	}
	r.want("the next edit", r.look("newer", inSteps), "newer beside new")
}

// TestRolloutsStop: too many errors or disagreements give all keys back, until the text
// or the annotation changes.
func TestRolloutsStop(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		errors, disagreements int
		reason                string
	}{
		"errors":        {1, 0, "1 of 100 objects fail under REV and not under "},
		"disagreements": {0, 21, "REV decides otherwise than "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rolling(t)
			r.decided(tc.disagreements)
			r.steps.report.Errors, r.steps.report.Failing = tc.errors, "n1: it fails"
			r.want("too many", r.tick(time.Second), "Stopped 0")
			r.want("the one before has all", r.look("new", inSteps), "old")
			now := r.assigner.rollouts.active["p"]
			v := r.policies.Get("p").Newest
			if want := strings.Replace(tc.reason, "REV", now.status.Revision, 1); !strings.HasPrefix(now.status.Reason, want) || !strings.Contains(now.status.Reason, "the first is n1: it ") || !v.RolloutStopped || !strings.Contains(v.Problems[0].Message, want) {
				t.Errorf("%s: %v", now.status.Reason, v.Problems)
			}
			r.want("nothing more happens", r.tick(time.Hour)+" "+r.look("new", inSteps), "Stopped 0 old")
			r.lead(t, r.history.entries)
			r.want("after a restart", r.look("new", inSteps)+" "+r.tick(time.Hour), "old Stopped 0")
			other := strings.Replace(inSteps, "20", "50", 1)
			r.want("another limit", r.look("new", other), "new beside old")
			r.want("it is compared again", r.tick(time.Second), "Comparing 0 waiting")
			r.steps.report.Errors = 1
			r.tick(time.Second)
			r.want("too many", r.look("new", other), "old")
			r.want("another text", r.look("newer", other), "newer beside old")
		})
	}
}

// TestRolloutsSurviveARestart: the next leader goes on with the step that was reached,
// and with its time.
func TestRolloutsSurviveARestart(t *testing.T) {
	t.Parallel()
	r := rolling(t)
	r.decided(0)
	r.tick(time.Second)
	r.want("step 1", r.tick(time.Second), "RollingOut 1 next in 10m0s")
	r.look("new", inSteps)
	r.lead(t, r.history.entries)
	r.want("another process", r.look("new", inSteps), "new beside old")
	if got := r.policies.Get("p").Assigned; got.Staged.Step != 1 || got.Fallback == nil {
		t.Errorf("it begins with step %d", got.Staged.Step)
	}
	r.want("not all decided about", r.tick(time.Minute), "RollingOut 1 next in 9m0s waiting")
	r.decided(0)
	r.want("its time", r.tick(9*time.Minute), "RollingOut 2")
	r.lead(t, r.history.entries)
	r.want("another text meanwhile", r.look("newer", inSteps), "newer beside old")
	r.want("begins anew", r.tick(time.Second), "Comparing 0 waiting")
}

// TestRolloutsOfAnotherConfigMap: what the annotation of another ConfigMap says of a
// rollout has no effect after a restart, whichever of the two is read last.
func TestRolloutsOfAnotherConfigMap(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "z"} {
		r := rolling(t)
		r.decided(0)
		r.tick(time.Second)
		r.want("step 1", r.tick(time.Second), "RollingOut 1 next in 10m0s")
		r.look("new", inSteps)
		forged := strings.NewReplacer(`"step":1`, `"step":2`).Replace(r.annotation())
		if forged == r.annotation() {
			t.Fatal(forged)
		}
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{v1alpha1.LabelPolicy: "true"}, Annotations: map[string]string{v1alpha1.AnnotationRolloutStatus: forged}}}
		if _, err := r.client.CoreV1().ConfigMaps("ns").Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		r.lead(t, r.history.entries)
		r.want("another process", r.look("new", inSteps), "new beside old")
		if got := r.policies.Get("p").Assigned; got.Staged == nil || got.Staged.Step != 1 {
			t.Errorf("%s: it begins with step %+v", name, got.Staged)
		}
	}
}

// TestRolloutOfWhatIsNoLongerKept: what went with another ConfigMap was not in force
// before, as far as the history says: an edit to it has steps.
func TestRolloutOfWhatIsNoLongerKept(t *testing.T) {
	t.Parallel()
	for _, goes := range []bool{false, true} {
		r := newRolled(t)
		r.keeps = true
		r.want("at first", r.lookAt(fixture.ConfigMap("other", "", map[string]string{"p.yaml": fixture.Policy("p", "old")})), "old")
		r.want("it has moved", r.look("new", ""), "new")
		if first := r.history.entries["p"][0]; goes {
			if err := r.client.AppsV1().ControllerRevisions("ns").Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		want := map[bool]string{false: "old", true: "old beside new"}[goes]
		r.want("the text from before", r.look("old", inSteps), want)
	}
}

// TestRolloutsEnd: what ends a rollout, and what the policy runs by then.
func TestRolloutsEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, annotation, runs, then string }{
		"another text":        {"newer", inSteps, "newer beside old", "Comparing 0 waiting"},
		"the text before":     {"old", inSteps, "old", "none"},
		"a broken text":       {"${nothing.at.all}", inSteps, "old", "none"},
		"no annotation":       {"new", "", "new", "none"},
		"a broken annotation": {"new", "steps: 5%", "old", "none"},
		"other steps":         {"new", strings.Replace(inSteps, "10}", "15}", 1), "new beside old", "Comparing 0 waiting"},
		"another interval":    {"new", strings.Replace(inSteps, "10m", "1m", 1), "new beside old", "RollingOut 1 next in 10m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rolling(t)
			r.decided(0)
			r.tick(time.Second)
			r.want("step 1", r.tick(0), "RollingOut 1 next in 10m0s")
			r.want("it runs", r.look(tc.text, tc.annotation), tc.runs)
			r.want("and then", r.tick(0), tc.then)
		})
	}
}

// TestRolloutsWait: while writes are suspended no time of a step passes.
func TestRolloutsWait(t *testing.T) {
	t.Parallel()
	hold := brake.Hold{Policy: "p", Until: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
	ofOne := hold
	ofOne.Key = "n1"
	for name, tc := range map[string]struct {
		brakes  brake.State
		stopped string
		waits   bool
	}{
		"a pause":           {brake.State{Pauses: []brake.Pause{{Policy: "p"}}}, "", true},
		"a hold":            {brake.State{Holds: []brake.Hold{hold}}, "", true},
		"a hold of one key": {brake.State{Holds: []brake.Hold{ofOne}}, "", false},
		"a permission":      {brake.State{}, "it is missing", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rolling(t)
			r.decided(0)
			r.tick(0)
			r.want("step 1", r.tick(0), "RollingOut 1 next in 10m0s")
			r.brakes, r.steps.stopped = tc.brakes, tc.stopped
			want := map[bool][2]string{true: {"RollingOut 1 waiting", "RollingOut 1 next in 10m0s"}, false: {"RollingOut 1 next in 1m0s", "RollingOut 1 next in 1m0s"}}[tc.waits]
			r.want("meanwhile", r.tick(9*time.Minute), want[0])
			r.brakes, r.steps.stopped = brake.State{}, ""
			r.want("afterwards", r.tick(0), want[1])
		})
	}
}

// results returns the results of the history, as the cluster has them.
func (r *rolled) results() (out string) {
	list, err := r.client.AppsV1().ControllerRevisions("ns").List(r.t.Context(), metav1.ListOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range history.List(list.Items, nil)["p"] {
		out += fmt.Sprint(e.Number, " ", e.Result, " ")
	}
	return strings.TrimSpace(out)
}

// TestRolloutResults: whatever ends a rollout, its revision was in force for some objects
// if a step had begun, and else never. It is in force if its text runs alone.
func TestRolloutResults(t *testing.T) {
	t.Parallel()
	disabled := fixture.Labelling("new")
	disabled.Mode, disabled.Rollout = "Disabled", inSteps
	shadow := fixture.Labelling("new")
	shadow.Mode, shadow.Rollout = "Shadow", inSteps
	look := func(value, annotation string) func(r *rolled) {
		return func(r *rolled) { r.look(value, annotation) }
	}
	for name, tc := range map[string]struct {
		end  func(r *rolled)
		want string // ENDED is what became of the revision
	}{
		"nothing":             {look("new", inSteps), "1 Active 2 RollingOut"},
		"other steps":         {look("new", strings.Replace(inSteps, "10}", "15}", 1)), "1 Active 2 RollingOut"},
		"too many errors":     {func(r *rolled) { r.steps.report.Errors = 1; r.tick(0); r.look("new", inSteps) }, "1 Active 2 ENDED"},
		"another text":        {look("newer", inSteps), "1 Active 2 ENDED 3 RollingOut"},
		"the text before":     {look("old", inSteps), "1 Active 2 ENDED 3 Active"},
		"a broken text":       {look(brokenText, inSteps), "1 Active 2 ENDED 3 Refused"},
		"an unreadable text":  {look("\"", inSteps), "1 Active 2 ENDED"},
		"a broken annotation": {look("new", "steps: 5%"), "1 Active 2 ENDED"},
		"no annotation":       {look("new", ""), "1 Active 2 Active"},
		"it is disabled":      {func(r *rolled) { r.lookAt(disabled) }, "1 Active 2 ENDED"},
		"it is in the shadow": {func(r *rolled) { r.lookAt(shadow) }, "1 Stopped 2 ENDED"},
		"the policy is gone":  {func(r *rolled) { r.lookAt(fixture.ConfigMap("m", "", nil)) }, "1 Stopped 2 ENDED"},
		"gone, and back":      {func(r *rolled) { r.lookAt(fixture.ConfigMap("m", "", nil)); r.look("new", "") }, "1 Active 2 Active"},
		"gone, and another":   {func(r *rolled) { r.lookAt(fixture.ConfigMap("m", "", nil)); r.look("newer", "") }, "1 Active 2 ENDED 3 Active"},
		"gone, and a bad one": {func(r *rolled) { r.lookAt(fixture.ConfigMap("m", "", nil)); r.look(brokenText, "") }, "1 Stopped 2 ENDED 3 Refused"},
		"stopped, then broken": {func(r *rolled) {
			r.steps.report.Errors = 1
			r.tick(0)
			r.look("new", inSteps)
			r.look("new", "steps: 5%")
		}, "1 Active 2 ENDED"},
		"stopped, then alone": {func(r *rolled) { r.steps.report.Errors = 1; r.tick(0); r.look("new", inSteps); r.look("new", "") }, "1 Active 2 Active"},
	} {
		for steps, ended := range []history.Result{history.Refused, history.RolledBack, history.RolledBack} {
			for _, restarts := range []bool{false, true} {
				t.Run(fmt.Sprint(name, ", step ", steps, ", restart: ", restarts), func(t *testing.T) {
					t.Parallel()
					r := newRolled(t)
					r.keeps = true
					r.look("old", inSteps)
					r.look("new", inSteps)
					r.decided(0)
					for now := r.assigner.rollouts.active["p"]; now.status.Step < steps; {
						r.tick(time.Hour)
					}
					r.look("new", inSteps)
					if restarts {
						r.lead(t, nil)
						r.look("new", inSteps)
					}
					tc.end(r)
					want := strings.Replace(tc.want, "ENDED", string(ended), 1)
					r.want("the history", r.results(), want)
					if r.history.continued(t.Context()) || r.history.endRollouts(t.Context(), r.policies) || r.results() != want {
						t.Error("it is not the same when it is looked at again")
					}
				})
			}
		}
	}
}
