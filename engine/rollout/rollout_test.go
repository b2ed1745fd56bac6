package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, steps, stop, wrong string }{
		"yaml":                {"steps:\n- percent: 5\n- selector: zone=a\n- percent: 100\ninterval: 10m\nstop: {errors: 1, disagreements: 20}\n", "5% zone=a 100%", "1 20", ""},
		"json":                {`{"steps": [{"percent": 5}], "interval": "1h"}`, "5%", "0 -1", ""},
		"half of stop":        {"steps: [{percent: 5}]\ninterval: 1s\nstop: {disagreements: 0}", "5%", "0 0", ""},
		"no mapping":          {"5%, 25%", "", "", "a:1:1: the rollout must be a mapping, not a string"},
		"nothing":             {"", "", "", "a:1:1: a rollout is one mapping, and here are 0"},
		"an unknown field":    {"step: [{percent: 5}]\ninterval: 1m", "", "", `a:1:1: the rollout has no field "step" (did you mean "steps"?)`},
		"no steps":            {"interval: 1m", "", "", "a:1:1: the rollout needs steps"},
		"no interval":         {"steps: [{percent: 5}]", "", "", "a:1:1: the rollout needs interval"},
		"an empty list":       {"steps: []\ninterval: 1m", "", "", "a:1:8: steps must be a list of 1 to 20 steps"},
		"a wrong percent":     {"steps: [{percent: 5},\n  {percent: 101}]\ninterval: 1m", "", "", `a:2:13: percent must be an integer from 1 to 100, not "101"`},
		"a shrinking step":    {"steps: [{percent: 25}, {percent: 25}]\ninterval: 1m", "", "", "a:1:24: 25% is not more than the 25% of an earlier step"},
		"after all":           {"steps: [{percent: 100}, {selector: a=b}]\ninterval: 1m", "", "", "a:1:25: a step follows the one with all objects"},
		"both":                {"steps: [{percent: 5, selector: a=b}]\ninterval: 1m", "", "", "a:1:9: a step has either percent or selector"},
		"neither":             {"steps: [{}]\ninterval: 1m", "", "", "a:1:9: a step has either percent or selector"},
		"a wrong selector":    {"steps: [{selector: a in b}]\ninterval: 1m", "", "", "a:1:20: the selector cannot be read: unable to parse"},
		"an empty selector":   {`steps: [{selector: ""}]` + "\ninterval: 1m", "", "", "a:1:20: the selector is empty"},
		"a wrong interval":    {"steps: [{percent: 5}]\ninterval: soon", "", "", `a:2:11: interval must be a duration from 1s to 720h0m0s, not "soon"`},
		"a wrong limit":       {"steps: [{percent: 5}]\ninterval: 1m\nstop: {errors: -1}", "", "", `a:3:16: errors must be an integer from 0`},
		"an unknown limit":    {"steps: [{percent: 5}]\ninterval: 1m\nstop: {warnings: 1}", "", "", `a:3:8: stop has no field "warnings"`},
		"no YAML":             {"steps: [", "", "", "a:1"},
		"a field given twice": {"steps: [{percent: 5}]\nsteps: [{percent: 6}]\ninterval: 1m", "", "", "a:2:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, problems := Parse("a", tc.text)
			if tc.wrong != "" {
				if spec != nil || len(problems) == 0 || !strings.HasPrefix(problems[0].Error(), tc.wrong) {
					t.Fatalf("want %q, got %v", tc.wrong, problems)
				}
				return
			}
			if len(problems) != 0 {
				t.Fatal(problems)
			}
			got := []string{}
			for _, s := range spec.Steps {
				got = append(got, s.String())
			}
			if d := cmp.Diff([]string{tc.steps, tc.stop}, []string{strings.Join(got, " "), fmt.Sprint(spec.Stop.Errors, spec.Stop.Disagreements)}); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
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
	spec, problems := Parse("a", "steps: [{percent: 5}, {selector: zone=a}, {percent: 25}, {percent: 100}]\ninterval: 1m")
	if problems != nil {
		t.Fatal(problems)
	}
	const n = 10_000
	count, both := make([]int, len(spec.Steps)+1), 0
	for i := range n {
		key, was := fmt.Sprintf("ns-%d/object-%d", i%7, i), false
		labels := value.FromMap(map[string]value.Value{"zone": value.OfString([]string{"a", "b", "c", "d"}[i%4])})
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
		{Policy: "p", Revision: "new", From: "old", State: RollingOut, Step: 2, Steps: 3, Share: "25%", Moved: 40, Keys: 160, Next: &next, Digest: "d"},
		{Policy: "p", Revision: "new", From: "old", State: Stopped, Step: 2, Steps: 3, Reason: "it fails"},
	}
	want := []string{
		"p: new replaces old in steps: comparing, 0 of 160 objects, 0 errors, 2 disagreements, 1 undetermined; for example n1: removed",
		"p: new replaces old in steps: step 2 of 3 (25%), 40 of 160 objects, 0 errors, 0 disagreements, next step at 2026-01-01T12:00:00Z",
		"p: the rollout of new has stopped at step 2 of 3: it fails",
	}
	back, err := ParseStatus(Format(list))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(list, back); d != "" {
		t.Errorf("-written +read:\n%s", d)
	}
	for i := range back {
		if d := cmp.Diff(want[i], back[i].String()); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
	if Format(nil) != "" {
		t.Error("no rollout has a status")
	}
	if _, err := ParseStatus("{"); err == nil {
		t.Error("what cannot be read is no error")
	}
}

// TestForgedStatus: a status that no rollout can have is not read.
func TestForgedStatus(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{"policy": "p", "state": "RollingOut", "step": 2, "steps": 3}, {"policy": "q", "state": "Comparing", "steps": 1}]`: "",
		`[{"policy": "p", "state": "Stopped", "step": 3, "steps": 3}]`:                                                       "",
		`[{"policy": "p", "state": "RollingOut", "step": -5, "steps": 3}]`:                                                   "p: there is no step -5 of 3",
		`[{"policy": "p", "state": "RollingOut", "step": 4, "steps": 3}]`:                                                    "p: there is no step 4 of 3",
		`[{"policy": "p", "state": "Done", "step": 1, "steps": 3}]`:                                                          `p: there is no state "Done"`,
		`{}`: "cannot be read",
	} {
		got, err := ParseStatus(text)
		if want == "" && err != nil || want != "" && (err == nil || got != nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
