package policies

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/events"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

func resultOfMode(mode plan.Mode, problems ...document.Problem) *lifecycle.CheckResult {
	v := &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: &source.Unit{Document: &v1alpha1.Policy{}, Mode: string(mode)}}, Problems: problems}
	if !document.HasErrors(problems) && mode != plan.Disabled {
		v.Plan = &plan.Policy{Mode: mode}
	}
	return v
}

// TestStatus sums up the policies of a ConfigMap.
func TestStatus(t *testing.T) {
	t.Parallel()
	wrong := document.Problem{Severity: document.Error, Message: "wrong"}
	odd := document.Problem{Severity: document.Warning, Message: "odd"}
	type one struct {
		v *lifecycle.CheckResult
		s lifecycle.Report
	}
	runs := lifecycle.Report{Event: lifecycle.Activated, InForce: "r1"}
	for name, tc := range map[string]struct {
		policies []one
		want     string
		runs     int
		fails    bool
	}{
		"some objects fail":              {[]one{{resultOfMode(plan.Enforce), runs}}, statusDegraded, 1, true},
		"it waits, and objects fail":     {[]one{{resultOfMode(plan.Enforce), lifecycle.Report{Event: lifecycle.Blocked, InForce: "r1", Reason: "kind"}}}, statusWaiting, 1, true},
		"nothing":                        {nil, statusEmpty, 0, false},
		"all run":                        {[]one{{resultOfMode(plan.Enforce), runs}, {resultOfMode(plan.Shadow), runs}}, statusActive, 2, false},
		"one is warned of":               {[]one{{resultOfMode(plan.Enforce, odd), runs}}, statusActive, 1, false},
		"one is disabled":                {[]one{{resultOfMode(plan.Enforce), runs}, {resultOfMode(plan.Disabled), lifecycle.Report{}}}, statusActive, 1, false},
		"all are disabled":               {[]one{{resultOfMode(plan.Disabled), lifecycle.Report{}}}, statusDisabled, 0, false},
		"one is bad, what it was runs":   {[]one{{resultOfMode(plan.Enforce, wrong), runs}}, statusRefused, 1, false},
		"one waits for a kind":           {[]one{{resultOfMode(plan.Enforce), runs}, {resultOfMode(plan.Enforce), lifecycle.Report{Event: lifecycle.Blocked, Reason: "kind"}}}, statusWaiting, 1, false},
		"one has not begun":              {[]one{{resultOfMode(plan.Enforce), lifecycle.Report{}}}, statusWaiting, 0, false},
		"one does not fit the cluster":   {[]one{{resultOfMode(plan.Enforce), lifecycle.Report{Event: lifecycle.Failed, Reason: "misfit"}}}, statusRefused, 0, false},
		"one cannot be read, so no more": {[]one{{nil, runs}}, statusActive, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sum tally
			for _, p := range tc.policies {
				sum.add("p", &lifecycle.Policy{Newest: p.v, Report: p.s})
			}
			if tc.fails {
				sum.degrade("p", &controller.Degraded{Reason: "r", Text: "t"})
			}
			if got := sum.status(); got != tc.want || len(sum.runs) != tc.runs {
				t.Errorf("%s, %d run; want %s, %d", got, len(sum.runs), tc.want, tc.runs)
			}
		})
	}
}

// checked is the result of checking a text. Kind is good, bad, off or tests.
func checked(text, kind string) *lifecycle.CheckResult {
	doc := &v1alpha1.Policy{Node: &document.Node{}}
	doc.Metadata.Name.Value = text
	v := &lifecycle.CheckResult{Revision: lifecycle.Revision{Unit: &source.Unit{Document: doc}, Plan: &plan.Policy{}}, TestsPending: kind == "tests"}
	switch kind {
	case "bad":
		v.Plan, v.Problems = nil, []document.Problem{{Severity: document.Error, Message: "wrong"}}
	case "off":
		v.Plan, v.Unit.Mode = nil, string(plan.Disabled)
	}
	return v
}

// TestStatusOfTheNewestText walks at random through what may happen to a policy. Whatever
// an earlier revision does and reports: no status says that a ConfigMap runs before its
// newest text is in force, and none refuses it for what an earlier text did.
func TestStatusOfTheNewestText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	of := func(values ...string) string { return values[random.IntN(len(values))] }
	seen := map[string]int{}
	for walk := range 500 {
		policies := lifecycle.NewRegistry()
		policies.Illegal = func(err error) { t.Errorf("walk %d: %v", walk, err) }
		var before lifecycle.Ticket // of the assignment before the present one
		ended := true               // the controller has nothing more to report
		var trace []string
		for range 30 {
			switch p := policies.Get("p"); {
			case random.IntN(3) == 0:
				text, kind := of("a", "b", "c"), of("good", "good", "good", "bad", "off", "tests")
				trace = append(trace, "text "+text+" "+kind)
				policies.Check("p", checked(text, kind))
			case p.Assigned != nil && !ended:
				event, ticket := lifecycle.Event(of(string(lifecycle.Blocked), string(lifecycle.Begun), string(lifecycle.Activated), string(lifecycle.Failed))), policies.Ticket("p")
				report := lifecycle.Report{Event: event, InForce: p.Report.InForce, Reason: p.Assigned.Unit.Name()}
				if event == lifecycle.Activated {
					report.InForce = p.Assigned.Unit.Revision()
				}
				if random.IntN(4) == 0 { // a report of the assignment before comes late
					report, ticket = lifecycle.Report{Event: event, InForce: p.Report.InForce, Reason: "before"}, before
				}
				ended = ticket != before && event != lifecycle.Blocked
				trace = append(trace, "report "+string(event)+" of "+report.Reason)
				policies.Report("p", ticket, report, time.Time{})
			}
			switch p := policies.Get("p"); {
			case p.Newest == nil:
			case p.Newest.Disabled() && p.Assigned != nil:
				policies.Stop("p")
			case p.Newest.Good():
				last := policies.Ticket("p")
				if policies.Assign("p", &p.Newest.Revision, false) {
					before, ended = last, false
				}
			}
			p := policies.Get("p")
			if p.Newest == nil || p.Phase == lifecycle.Testing { // then the annotations stay as they are
				continue
			}
			var sum tally
			sum.add("p", &p)
			if random.IntN(2) == 0 {
				sum.failing = []string{"p: fails"}
			}
			status := sum.status()
			seen[status]++
			runs := status == statusActive || status == statusDegraded && p.Phase != lifecycle.RollingOut
			if runs && !p.RunsNewest() {
				t.Fatalf("walk %d: %s, and the newest text is not in force: %v", walk, status, trace)
			}
			for _, problem := range sum.wrong() {
				if about := strings.TrimPrefix(problem.Message, "p: "); about != "wrong" && about != p.Newest.Unit.Name() {
					t.Fatalf("walk %d: refused for what %q did: %v", walk, about, trace)
				}
			}
		}
	}
	for _, status := range []string{statusActive, statusDegraded, statusWaiting, statusRollingOut, statusRefused, statusDisabled} {
		if seen[status] == 0 {
			t.Errorf("no walk comes to the status %s: %v", status, seen)
		}
	}
}

// TestProblemsOfKinds: what is wrong with a document for several kinds is said once, and
// with the kinds that it is about.
func TestProblemsOfKinds(t *testing.T) {
	t.Parallel()
	all, one := document.Problem{Severity: document.Error, Message: "all"}, document.Problem{Severity: document.Error, Message: "one"}
	var sum tally
	for _, kind := range []string{"A", "B"} {
		v := resultOfMode(plan.Enforce, all)
		v.Unit.Document.Of, v.Unit.Document.Spec.For.Kind.Value, v.Unit.Document.Metadata.Name.Value = "p", kind, "p-"+kind
		if kind == "B" {
			v.Problems = append(v.Problems, one)
		}
		sum.add(v.Unit.Name(), &lifecycle.Policy{Newest: v})
	}
	var got []string
	for _, p := range sum.wrong() {
		got = append(got, p.Message)
	}
	if diff := cmp.Diff([]string{"all", "one (for the kind B)"}, got); diff != "" || sum.status() != statusRefused {
		t.Errorf("%s: %s", sum.status(), diff)
	}
}

func TestChangesOfAnnotations(t *testing.T) {
	t.Parallel()
	before := map[string]string{"same": "1", "other": "1", "gone": "1", "foreign": "1"}
	want := map[string]any{"other": "2", "gone": nil, "new": "2"}
	got := changes(before, map[string]string{"same": "1", "other": "2", "gone": "", "new": "2", "never": ""})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestShadowTextIsBounded(t *testing.T) {
	t.Parallel()
	if shadowText(nil) != "" {
		t.Error("nothing to tell, and it tells")
	}
	r := bigReport()
	text := shadowText(r)
	if len(text) > maxShadow || !strings.Contains(text, `"policy":"p"`) || len(r[0].Examples) == 0 || r[0].MoreExamples+len(r[0].Examples) != 20 || !strings.Contains(text, `"moreExamples":`) {
		t.Errorf("%d bytes, %d examples", len(text), len(r[0].Examples))
	}
}

func bigReport() []*reconcile.ShadowReport {
	r := &reconcile.ShadowReport{ShadowCounts: reconcile.ShadowCounts{Policy: "p"}}
	for range 20 {
		r.Examples = append(r.Examples, reconcile.Disagreement{Key: "k", Differences: []string{strings.Repeat("x", 2000)}})
	}
	return []*reconcile.ShadowReport{r}
}

// TestListIsBounded: it ends with a policy that is whole, and says that there
// are more.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	if got := list([]string{"a=1", "b=2"}); got != "a=1 b=2" {
		t.Errorf("%q", got)
	}
	runs := slices.Repeat([]string{"a-policy=0123456789ab"}, 5000)
	text := list(runs)
	if all := strings.Fields(text); len(text) > maxPolicies+3 || all[len(all)-1] != "..." || all[len(all)-2] != runs[0] {
		t.Errorf("%d bytes, at the end %q", len(text), text[len(text)-30:])
	}
}

// TestBrakeStatus: what a ConfigMap says of the brakes.
func TestBrakeStatus(t *testing.T) {
	t.Parallel()
	pause := brake.Pause{Policy: "p", Revision: "1", Reason: brake.RemovalLimit, Message: "too much", Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for name, tc := range map[string]struct {
		state  *brake.State
		status string
		want   string
	}{
		"nothing":   {nil, statusActive, ""},
		"paused":    {&brake.State{Pauses: []brake.Pause{pause}, Paced: make([]brake.Paced, 1)}, statusPaused, "p: too much; edict resume p --policy-namespace ns lets it go on, edict rollback p --policy-namespace ns takes its last edit back, if it was edited"},
		"paced":     {&brake.State{Paced: []brake.Paced{{Policy: "p", Key: eval.Key{Name: "a"}}}}, statusDegraded, "at its pace for ten minutes about 1 object, such as: the policy p has been at its pace about a"},
		"uncertain": {&brake.State{Kept: map[brake.Reason]int{brake.Uncertain: 3}}, statusDegraded, "that concerns 3 objects"},
		"a hold":    {&brake.State{Holds: []brake.Hold{{Policy: "p"}}}, statusActive, ""},
	} {
		sum := tally{wanted: 1, runs: []string{"p=1"}}
		sum.addBrakes("p", brakeStatusOf(tc.state, "ns"))
		text := strings.Join(append(sum.paused, sum.failing...), "\n")
		if got := sum.status(); got != tc.status || !strings.Contains(text, tc.want) {
			t.Errorf("%s: %s, %q", name, got, text)
		}
	}
}

// TestOnlyNumbersWait: whatever changes of a status is written at once, but for numbers in
// the note, and what waits is written after a while. It walks through statuses at random.
func TestOnlyNumbersWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		live, version := map[string]string{}, 0
		client := fake.NewClientset()
		client.PrependReactor("patch", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
			version++
			var body struct{ Metadata metav1.ObjectMeta }
			if err := json.Unmarshal(a.(clienttesting.PatchAction).GetPatch(), &body); err != nil {
				t.Error(err)
			}
			maps.Copy(live, body.Metadata.Annotations)
			return true, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(version)}}, nil
		})
		n := &statusWriter{client: client, log: slog.New(slog.DiscardHandler), events: events.NewRecorder(record.NewFakeRecorder(10_000)), written: map[string]writing{}}
		write := func(one statusReport) (later bool) {
			return n.write(t.Context(), []statusReport{one}, func(*source.ConfigMap) (map[string]string, string) { return live, strconv.Itoa(version) })
		}
		random := rand.New(rand.NewPCG(1, 2))
		of := func(values ...string) string { return values[random.IntN(len(values))] }
		for step := range 2000 {
			reason := of("", "r", "s")
			one := statusReport{
				configMap: &source.ConfigMap{Namespace: "ns", Name: "m", UID: "m", Data: map[string]string{"p.yaml": of("1", "2")}},
				status:    of(statusDegraded, statusPaused), policies: of("p=1", "p=2"), reason: reason, text: reason + of("1", "2"), warning: of("", "held"), rollouts: of("", "[]"),
			}
			for range 2 { // the second time only numbers change
				later := write(one)
				diff := wrongAnnotations(live, one.annotations())
				if later && !slices.Equal(diff, []string{v1alpha1.AnnotationError}) || !later && len(diff) > 0 {
					t.Fatalf("step %d: %v are not as wanted, to be tried again: %t", step, diff, later)
				}
				one.text = reason + of("3", "4")
			}
			<-time.After(time.Duration(random.IntN(10)) * time.Second)
			if random.IntN(10) > 0 {
				continue
			}
			<-time.After(sameReason)
			if later, diff := write(one), wrongAnnotations(live, one.annotations()); later || len(diff) > 0 {
				t.Fatalf("step %d: after a while %v are not as wanted, to be tried again: %t", step, diff, later)
			}
		}
	})
}

// wrongAnnotations returns the annotations that are not as wanted, sorted.
func wrongAnnotations(live, want map[string]string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if live[key] != want[key] {
			out = append(out, key)
		}
	}
	return out
}

// TestStatusOfParams: a ConfigMap of params does not show the present values before the
// policies do that have, or had, values from it: while their tests run, and when their
// status cannot be written.
func TestStatusOfParams(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, before string // the policy that has a value, and where it had one from
		kind         string
		pending      bool
	}{
		"it is tested":              {"p", "", "tests", true},
		"it is tested without them": {"q", "ns/params", "tests", true},
		"another one is tested":     {"q", "ns/others", "tests", false},
		"it is good":                {"p", "ns/params", "good", false},
	} {
		policies := lifecycle.NewRegistry()
		if tc.before != "" {
			before := checked("p", "good")
			before.Unit.Overrides = map[string]compile.Override{"value": {From: tc.before}}
			policies.Check("p", before)
			policies.Assign("p", &before.Revision, false)
		}
		policies.Check("p", checked("p", tc.kind))
		values := (&source.ConfigMap{Namespace: "ns", Name: "params", Data: map[string]string{tc.text: "value: a"}}).ReadParams()
		if n := (&reporter{policies: policies}).paramsReport(source.NewCatalog(nil, []*source.Values{values}, nil), values); n.pending != tc.pending || !n.params {
			t.Errorf("%s: pending is %t", name, n.pending)
		}
	}
}

// TestParamsAreWrittenLast: not before the status of policies that cannot be written.
func TestParamsAreWrittenLast(t *testing.T) {
	t.Parallel()
	client, fails := fake.NewClientset(), true
	var patched []string
	client.PrependReactor("patch", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		name := a.(clienttesting.PatchAction).GetName()
		if fails && name == "policies" {
			return true, nil, errors.New("not now")
		}
		patched = append(patched, name)
		return true, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "10"}}, nil
	})
	n := &statusWriter{client: client, log: slog.New(slog.DiscardHandler), events: events.NewRecorder(record.NewFakeRecorder(10)), written: map[string]writing{}}
	of := func(name string) *source.ConfigMap { return &source.ConfigMap{Namespace: "ns", Name: name, UID: name} }
	write := func() (later bool) {
		reports := []statusReport{{configMap: of("policies"), status: statusWaiting}, {configMap: of("others"), status: statusActive}, {configMap: of("params"), status: statusActive, params: true}}
		return n.write(t.Context(), reports, func(*source.ConfigMap) (map[string]string, string) { return nil, "7" })
	}
	if later := write(); !later || !slices.Equal(patched, []string{"others"}) {
		t.Errorf("when one fails: %v, to be tried again: %t", patched, later)
	}
	fails = false
	if later := write(); later || !slices.Equal(patched, []string{"others", "policies", "params"}) {
		t.Errorf("later: %v, to be tried again: %t", patched, later)
	}
}

// TestStatusShowsEverything: whatever is the matter with some policies of a ConfigMap at
// once, the most important is the status, and the text names all of it, however long each
// is.
func TestStatusShowsEverything(t *testing.T) {
	t.Parallel()
	matters := []struct {
		status, text string
		add          func(*tally)
	}{
		{statusRefused, "it is wrong", func(s *tally) {
			s.problems = []document.Problem{{Severity: document.Error, Message: "it is wrong"}}
		}},
		{statusRolloutStopped, "it has stopped", func(s *tally) {
			s.halted = []document.Problem{{Severity: document.Error, Message: "it has stopped"}}
		}},
		{statusWaiting, "a: it waits", func(s *tally) { s.waits = []string{"a: it waits"} }},
		{statusWaiting, "b: its revision is being loaded", func(s *tally) { s.add("b", &lifecycle.Policy{Phase: lifecycle.Loading}) }},
		{statusPaused, "c: it is paused", func(s *tally) { s.addBrakes("c", brakeStatus{paused: []string{"it is paused"}}) }},
		{statusDegraded, "e: 1 of 9 objects fail", func(s *tally) { s.degrade("e", &controller.Degraded{Reason: "r", Text: "1 of 9 objects fail"}) }},
		{statusRollingOut, "", func(s *tally) { s.rolling = 1 }},
	}
	m := &source.ConfigMap{Namespace: "ns", Name: "m"}
	for set := range 1 << len(matters) {
		sum, status := tally{wanted: 1, runs: []string{"p=1", "b=1"}}, statusActive
		var want []string
		for i, one := range matters {
			if set&(1<<i) == 0 {
				continue
			}
			one.add(&sum)
			if want = append(want, one.text); status == statusActive {
				status = one.status
			}
		}
		text, reason := sum.text(m)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%q: %q is missing in %q", want, part, text)
			}
		}
		if got := sum.status(); got != status || (text == "") != (len(strings.Join(want, "")) == 0) {
			t.Errorf("%q: %s with %q, want %s", want, got, text, status)
		}
		if sum.failing != nil { // nothing but a number
			sum.failing[0] = strings.Replace(sum.failing[0], "1 of 9", "2 of 9", 1)
			if again, same := sum.text(m); again == text || same != reason || reason == "" {
				t.Errorf("%q: the reason of %q is %q, and then %q", want, text, reason, same)
			}
		}
	}
}

// TestTextsShareTheAnnotation: none hides another one, and no place is left unused.
func TestTextsShareTheAnnotation(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 100, 340, 511, 512, 513, 900, 1024, 5000}
	for _, a := range sizes {
		for _, b := range sizes {
			for _, c := range sizes {
				text := share(strings.Repeat("a", a), strings.Repeat("b", b), strings.Repeat("c", c))
				whole := a+b+c+2 <= configmap.MaxText
				if len(text) > configmap.MaxText || a+b+c >= configmap.MaxText && len(text) < configmap.MaxText-3 {
					t.Errorf("%d, %d and %d bytes have %d", a, b, c, len(text))
				}
				for letter, size := range map[string]int{"a": a, "b": b, "c": c} {
					if got := strings.Count(text, letter); got < min(size, 340) || whole && got < size {
						t.Errorf("of %d, %d and %d bytes there are %d of %s", a, b, c, got, letter)
					}
				}
			}
		}
	}
}
