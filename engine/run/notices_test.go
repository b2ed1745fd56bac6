package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
)

func verdictOf(mode plan.Mode, problems ...document.Problem) *lifecycle.CheckResult {
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
		"some objects fail":              {[]one{{verdictOf(plan.Enforce), runs}}, statusDegraded, 1, true},
		"it waits, and objects fail":     {[]one{{verdictOf(plan.Enforce), lifecycle.Report{Event: lifecycle.Blocked, InForce: "r1", Reason: "kind"}}}, statusWaiting, 1, true},
		"nothing":                        {nil, statusEmpty, 0, false},
		"all run":                        {[]one{{verdictOf(plan.Enforce), runs}, {verdictOf(plan.Shadow), runs}}, statusActive, 2, false},
		"one is warned of":               {[]one{{verdictOf(plan.Enforce, odd), runs}}, statusActive, 1, false},
		"one is disabled":                {[]one{{verdictOf(plan.Enforce), runs}, {verdictOf(plan.Disabled), lifecycle.Report{}}}, statusActive, 1, false},
		"all are disabled":               {[]one{{verdictOf(plan.Disabled), lifecycle.Report{}}}, statusDisabled, 0, false},
		"one is bad, what it was runs":   {[]one{{verdictOf(plan.Enforce, wrong), runs}}, statusRefused, 1, false},
		"one waits for a kind":           {[]one{{verdictOf(plan.Enforce), runs}, {verdictOf(plan.Enforce), lifecycle.Report{Event: lifecycle.Blocked, Reason: "kind"}}}, statusWaiting, 1, false},
		"one has not begun":              {[]one{{verdictOf(plan.Enforce), lifecycle.Report{}}}, statusWaiting, 0, false},
		"one does not fit the cluster":   {[]one{{verdictOf(plan.Enforce), lifecycle.Report{Event: lifecycle.Failed, Reason: "misfit"}}}, statusRefused, 0, false},
		"one cannot be read, so no more": {[]one{{nil, runs}}, statusActive, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sum tally
			for _, p := range tc.policies {
				sum.add("p", &lifecycle.Policy{Newest: p.v, Report: p.s})
			}
			if tc.fails {
				sum.degrade("p", &degraded{reason: "r", text: "t"})
			}
			if got := sum.status(); got != tc.want || len(sum.runs) != tc.runs {
				t.Errorf("%s, %d run; want %s, %d", got, len(sum.runs), tc.want, tc.runs)
			}
		})
	}
}

// TestProblemText is for whoever edits the ConfigMap: its keys are files.
func TestProblemText(t *testing.T) {
	t.Parallel()
	m := &source.ConfigMap{Namespace: "ns", Name: "m"}
	warning := document.Problem{Position: document.Position{File: "ns/m/a.yaml", Line: 1, Column: 1}, Severity: document.Warning, Message: "odd"}
	wrong := document.Problem{Position: document.Position{File: "ns/m/a.yaml", Line: 2, Column: 3}, Severity: document.Error, Message: "wrong", Source: "  x: 1", Hint: "right it"}
	elsewhere := document.Problem{Position: document.Position{File: "ns/p/a", Line: 1, Column: 1}, Severity: document.Error, Message: "off"}
	for name, tc := range map[string]struct {
		list     []document.Problem
		severity document.Severity
		want     string
	}{
		"nothing":          {nil, document.Error, ""},
		"only warnings":    {[]document.Problem{warning, wrong}, document.Warning, "a.yaml:1:1: warning: odd"},
		"errors only":      {[]document.Problem{warning, wrong}, document.Error, "a.yaml:2:3: error: wrong\n      x: 1\n      ^\n    right it"},
		"of another place": {[]document.Problem{elsewhere}, document.Error, "ns/p/a:1:1: error: off"},
	} {
		if d := cmp.Diff(tc.want, problemText(m, tc.list, tc.severity)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
	many := make([]document.Problem, 100)
	for i := range many {
		many[i] = wrong
	}
	for i := range many {
		many[i].Line, many[i].Source = i, strings.Repeat("x", 1<<20)
	}
	if text := problemText(m, many, document.Error); len(text) > maxText || strings.Contains(text, "xx") {
		t.Errorf("%d bytes", len(text))
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

// TestWorse finds errors that were not there, wherever the old ones have moved.
func TestWorse(t *testing.T) {
	t.Parallel()
	problem := func(file string, line int, message string) document.Problem {
		return document.Problem{Position: document.Position{File: file, Line: line}, Severity: document.Error, Message: message, Source: "text"}
	}
	old := []document.Problem{problem("a", 1, "x"), problem("a", 2, "y")}
	if worse([]document.Problem{problem("a", 9, "twice, first at a:2:3")}, []document.Problem{problem("a", 10, "twice, first at a:3:3")}) {
		t.Error("a mistake that moves is another")
	}
	for name, tc := range map[string]struct {
		now  []document.Problem
		want bool
	}{
		"nothing is wrong": {nil, false}, "one is mended": {old[1:], false}, "they have moved": {[]document.Problem{problem("a", 7, "x")}, false},
		"another": {append(old[:1:1], problem("a", 2, "z")), true}, "the same in another file": {[]document.Problem{problem("b", 1, "x")}, true},
		"the same once more": {[]document.Problem{problem("a", 1, "x"), problem("a", 3, "x")}, true}, "the line has changed": {[]document.Problem{{Position: document.Position{File: "a", Line: 1}, Severity: document.Error, Message: "x", Source: "another text"}}, false},
	} {
		if got := worse(old, tc.now); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSame: who annotates changes nothing that is judged.
func TestSame(t *testing.T) {
	t.Parallel()
	one := func(change func(*corev1.ConfigMap)) *corev1.ConfigMap {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"edict.dev/policy": "true"}, Annotations: map[string]string{}}, Data: map[string]string{"a": "b"}}
		change(m)
		return m
	}
	first := one(func(*corev1.ConfigMap) {})
	for name, tc := range map[string]struct {
		change func(*corev1.ConfigMap)
		want   bool
	}{
		"the status": {func(m *corev1.ConfigMap) { m.Annotations["edict.dev/status"] = "Active" }, true}, "a label of others": {func(m *corev1.ConfigMap) { m.Labels["x"] = "y" }, true},
		"the data": {func(m *corev1.ConfigMap) { m.Data["a"] = "c" }, false}, "the mode": {func(m *corev1.ConfigMap) { m.Annotations["edict.dev/mode"] = "Shadow" }, false},
		"the label": {func(m *corev1.ConfigMap) { m.Labels["edict.dev/policy"] = "false" }, false},
	} {
		if got := same(first, one(tc.change)); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
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
