package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/value"
)

// step is a share, or a selector by the label room.
func step(percent int32, room string) edictv1.Step {
	if room != "" {
		return edictv1.Step{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"room": room}}}
	}
	return edictv1.Step{Percent: &percent}
}

func TestNew(t *testing.T) {
	t.Parallel()
	one := []edictv1.Step{step(5, "")}
	errors := int32(1)
	for name, tc := range map[string]struct {
		of                 edictv1.Rollout
		steps, stop, wrong string
	}{
		"steps and limits":       {edictv1.Rollout{Steps: []edictv1.Step{step(5, ""), step(0, "a"), step(100, "")}, Interval: "10m", Stop: &edictv1.Stop{Errors: &errors, Disagreements: "20"}}, "5% room=a 100%", "1 20", ""},
		"no limits":              {edictv1.Rollout{Steps: one, Interval: "1h"}, "5%", "0 -1", ""},
		"half of the limits":     {edictv1.Rollout{Steps: one, Interval: "1s", Stop: &edictv1.Stop{Errors: &errors}}, "5%", "1 -1", ""},
		"a percentage":           {edictv1.Rollout{Steps: one, Interval: "1s", Stop: &edictv1.Stop{Disagreements: "5%"}}, "5%", "0 5%", ""},
		"no disagreement at all": {edictv1.Rollout{Steps: one, Interval: "1s", Stop: &edictv1.Stop{Disagreements: "0"}}, "5%", "0 0", ""},
		"an expression": {edictv1.Rollout{Interval: "1s", Steps: []edictv1.Step{{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "room", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}}}}}}, "room in (a,b)", "0 -1", ""},
		"no interval":      {edictv1.Rollout{Steps: one}, "", "", `interval "" is not a duration above 0, such as 10m`},
		"a wrong interval": {edictv1.Rollout{Steps: one, Interval: "soon"}, "", "", `interval "soon" is not a duration above 0, such as 10m`},
		"no time":          {edictv1.Rollout{Steps: one, Interval: "0s"}, "", "", `interval "0s" is not a duration above 0, such as 10m`},
		"an empty step":    {edictv1.Rollout{Steps: []edictv1.Step{step(5, ""), {}}, Interval: "1m"}, "", "", "steps[1]: needs selector or percent"},
		"a wrong selector": {edictv1.Rollout{Interval: "1s", Steps: []edictv1.Step{{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "room", Operator: "Near"}}}}}}, "", "", "steps[0]: selector: "},
		"a wrong limit": {edictv1.Rollout{Steps: one, Interval: "1m", Stop: &edictv1.Stop{Disagreements: "few"}}, "", "", `stop.disagreements "few" is not a number or a percentage`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, err := New(&tc.of)
			if tc.wrong != "" {
				if spec != nil || err == nil || !strings.HasPrefix(err.Error(), tc.wrong) {
					t.Fatalf("want %q, got %v", tc.wrong, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, s := range spec.Steps {
				got = append(got, s.String())
			}
			if d := cmp.Diff([]string{tc.steps, tc.stop, tc.of.Interval}, []string{strings.Join(got, " "), fmt.Sprint(spec.Stop.Errors, " ", spec.Stop), short(spec.Interval)}); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// short is a duration as it is written: 10m, not 10m0s.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// TestStop: a limit is exceeded by more than it.
func TestStop(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		stop      Stop
		keys, all int
		fails     bool
		disagrees bool
	}{
		"none":             {Stop{}, 0, 100, false, false},
		"one too many":     {Stop{}, 1, 100, true, true},
		"as many":          {Stop{Errors: 2, Disagreements: 2}, 2, 100, false, false},
		"no limit":         {Stop{Errors: NoLimit, Disagreements: NoLimit}, 100, 100, false, false},
		"five per cent":    {Stop{Errors: 9, Disagreements: 5, Percent: true}, 5, 100, false, false},
		"six per cent":     {Stop{Errors: 9, Disagreements: 5, Percent: true}, 6, 100, false, true},
		"of few":           {Stop{Errors: 9, Disagreements: 5, Percent: true}, 1, 19, false, true},
		"per cent of none": {Stop{Disagreements: 5, Percent: true}, 0, 0, false, false},
	} {
		if fails, disagrees := tc.stop.Fails(tc.keys), tc.stop.Disagrees(tc.keys, tc.all); fails != tc.fails || disagrees != tc.disagrees {
			t.Errorf("%s: %v and %v", name, fails, disagrees)
		}
	}
}

// TestPlacesAreStable: another process, and another release, must find the same keys in
// a step.
func TestPlacesAreStable(t *testing.T) {
	t.Parallel()
	got := []int{place("p", "ns/a"), place("p", "ns/b"), place("q", "ns/a"), place("p", "n-1"), place("p", "n-2")}
	if d := cmp.Diff([]int{38, 42, 27, 53, 4}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestSharesGrow: who is in a step is in all later ones, each step has about its share
// of the keys, and two policies do not begin with the same.
func TestSharesGrow(t *testing.T) {
	t.Parallel()
	spec, err := New(&edictv1.Rollout{Steps: []edictv1.Step{step(5, ""), step(0, "a"), step(25, ""), step(100, "")}, Interval: "1m"})
	if err != nil {
		t.Fatal(err)
	}
	const n = 10_000
	count, both := make([]int, len(spec.Steps)+1), 0
	for i := range n {
		key, was := fmt.Sprintf("ns-%d/object-%d", i%7, i), false
		labels := value.FromMap(map[string]value.Value{"room": value.OfString([]string{"a", "b", "c", "d"}[i%4])})
		for step := range count {
			has := spec.Share(step).Has("p", key, labels)
			if was && !has {
				t.Fatalf("%s is no longer in step %d", key, step)
			}
			if was = has; has {
				count[step]++
			}
		}
		if !was {
			t.Fatalf("%s is not in the last step", key)
		}
		if spec.Share(1).Has("p", key, labels) && spec.Share(1).Has("q", key, labels) {
			both++
		}
	}
	for step, want := range []int{0, 500, 2875, 4375, n} {
		if got := count[step]; got < want-150 || got > want+150 {
			t.Errorf("step %d has %d keys, not about %d", step, got, want)
		}
	}
	if both > 100 {
		t.Errorf("%d keys are in the first step of both policies", both)
	}
	if spec.Share(2).Has("p", "gone", nil) != spec.Share(1).Has("p", "gone", nil) {
		t.Error("a selector matches what has no object")
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	next := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	list := []Status{
		{Policy: "p", Revision: "new", From: "old", State: Comparing, Steps: 3, Keys: 160, Disagreements: 2, Undetermined: 1, Example: "n1: removed"},
		{Policy: "p", Revision: "new", From: "old", State: RollingOut, Step: 2, Steps: 3, Share: "25%", Moved: 40, Keys: 160, Next: &next, Waiting: "its tests"},
		{Policy: "p", Revision: "new", From: "old", State: Stopped, Step: 2, Steps: 3, Reason: "it fails"},
	}
	want := []string{
		"p: new replaces old in steps: comparing, 0 of 160 objects, 0 errors, 2 disagreements, 1 undetermined; for example n1: removed",
		"p: new replaces old in steps: step 2 of 3 (25%), 40 of 160 objects, 0 errors, 0 disagreements, next step at 2026-01-01T12:00:00Z, waiting: its tests",
		"p: the rollout of new has stopped at step 2 of 3: it fails",
	}
	for i := range list {
		if d := cmp.Diff(want[i], list[i].String()); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
}
