package policytest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/coverage"
)

// outcomes runs tests and returns what came of each case.
func outcomes(t *testing.T, o Options, paths ...string) *Report {
	t.Helper()
	r, err := Run(t.Context(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExpectationsThatHold(t *testing.T) {
	t.Parallel()
	r := outcomes(t, Options{}, "testdata/passes.yaml")
	for _, c := range r.Cases {
		if len(c.Failures) > 0 {
			t.Errorf("%s: %s", c.Name, strings.Join(c.Failures, "\n"))
		}
	}
	if r.Failed() != 0 || len(r.Cases) != 9 {
		t.Errorf("%d of %d cases failed", r.Failed(), len(r.Cases))
	}
}

// TestFailuresGolden shows what a person reads when an expectation does not
// hold.
func TestFailuresGolden(t *testing.T) {
	t.Parallel()
	r := outcomes(t, Options{}, "testdata/fails.yaml")
	var out strings.Builder
	for _, c := range r.Cases {
		fmt.Fprintf(&out, "%s: %s\n", c.Position, c.Name)
		for _, f := range c.Failures {
			fmt.Fprintf(&out, "    %s\n", strings.ReplaceAll(strings.TrimRight(f, "\n"), "\n", "\n    "))
		}
		if len(c.Failures) == 0 {
			t.Errorf("%s passes", c.Name)
		}
	}
	got := strings.ReplaceAll(out.String(), "\u00a0", " ") // go-cmp writes either
	const file = "testdata/fails.golden"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestRunSelectsCases(t *testing.T) {
	t.Parallel()
	r := outcomes(t, Options{Run: regexp.MustCompile(`passes\.yaml/.*matched`)}, "testdata")
	var got []string
	for _, c := range r.Cases {
		got = append(got, c.Name)
	}
	if diff := cmp.Diff([]string{"effects are matched in part", "objects are matched in part"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCoverage counts how often each rule fired; a rule that never did is
// known, too.
func TestCoverage(t *testing.T) {
	t.Parallel()
	r := outcomes(t, Options{}, "testdata/passes.yaml")
	rules := r.Coverage["widgets"]
	if len(rules) != 4 || rules["say whether it is ready"] == 0 || rules["say when it is late"] == 0 || rules["fail"] == 0 || rules["never"] != 0 {
		t.Errorf("got %v", rules)
	}
}

// TestCoverageAgrees: how often the rules fired, and the points that have come about, say the
// same of each rule that stands in a text.
func TestCoverageAgrees(t *testing.T) {
	t.Parallel()
	used := coverage.New()
	r := outcomes(t, Options{Coverage: used}, "../../policy-tests/debounce", "../../policy-tests/children")
	known := map[string]bool{}
	for _, p := range used.Points() {
		if p.Kind != coverage.Rule {
			continue
		}
		known[p.Policy+p.Rule] = true
		if n := r.Coverage[p.Policy][p.Rule]; (n > 0) != (p.Outcomes[0].Count > 0) {
			t.Errorf("%s, rule %q: fired %d times, and its point %v", p.Policy, p.Rule, n, p.Outcomes)
		}
	}
	for policy, rules := range r.Coverage {
		for rule, n := range rules {
			if n == 0 && !known[policy+rule] {
				t.Errorf("%s: the rule %q never fired, and is no point", policy, rule)
			}
		}
	}
	if len(known) == 0 {
		t.Error("no rule is a point")
	}
}

// TestCasesAreApart: what one case does to the world, no other sees.
func TestCasesAreApart(t *testing.T) {
	t.Parallel()
	forwards := outcomes(t, Options{}, "testdata/passes.yaml")
	for _, c := range forwards.Cases {
		alone := outcomes(t, Options{Run: regexp.MustCompile(regexp.QuoteMeta(c.Name) + "$")}, "testdata/passes.yaml")
		if len(alone.Cases) != 1 || !slices.Equal(alone.Cases[0].Failures, c.Failures) {
			t.Errorf("%s alone: %v", c.Name, alone.Cases)
		}
	}
}

// TestFilesThatAreNoTests are passed over, and broken ones are not.
func TestFilesThatAreNoTests(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"a policy":          {"apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: a}\n", ""},
		"a world":           {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\n", ""},
		"a misspelt test":   {"apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: a}\nspec: {case: []}\n", `spec has no field "case" (did you mean "cases"?)`},
		"no policies":       {"apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nspec: {cases: [{name: a}]}\n", ""},
		"a case by no name": {"apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nspec: {policies: [p.yaml], cases: [{expect: {}}]}\n", ":3:36: a case has no name"},
		"a world not there": {"apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nspec: {policies: [p.yaml], world: [w.yaml], cases: [{name: a}]}\n", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.yaml")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Run(t.Context(), []string{path}, Options{})
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	if _, err := Run(t.Context(), []string{"testdata/nothing"}, Options{}); err == nil {
		t.Error("a path that does not exist is tested")
	}
}

// TestShape reduces what is there to what is asked for.
func TestShape(t *testing.T) {
	t.Parallel()
	type m = map[string]any
	type l = []any
	for name, tc := range map[string]struct{ want, got, shaped any }{
		"a scalar":                  {"a", "b", "b"},
		"fields not asked for":      {m{"a": 1}, m{"a": 2, "b": 3}, m{"a": 2}},
		"a field that is absent":    {m{"a": nil}, m{"b": 3}, m{"a": nil}},
		"a field that should be":    {m{"a": 1}, m{}, m{"a": nil}},
		"only absent fields":        {m{"a": m{"b": nil}}, m{}, m{"a": m{"b": nil}}},
		"no object at all":          {m{"a": 1}, "x", "x"},
		"lists item by item":        {l{m{"a": 1}, m{"a": 2}}, l{m{"a": 1, "b": 1}, m{"a": 3}}, l{m{"a": 1}, m{"a": 3}}},
		"lists of other lengths":    {l{m{"a": 1}}, l{m{"a": 1, "b": 1}, m{"a": 2}}, l{m{"a": 1, "b": 1}, m{"a": 2}}},
		"by type, in another order": {l{m{"type": "B", "x": 1}}, l{m{"type": "A"}, m{"type": "B", "x": 2, "y": 3}}, l{m{"type": "B", "x": 2}}},
		"by type, not there":        {l{m{"type": "C"}}, l{m{"type": "A"}}, l{}},
		"an empty list":             {l{}, l{m{"type": "A"}}, l{m{"type": "A"}}},
		"no list":                   {l{"a"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.shaped, shape(tc.want, tc.got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestDisabledPolicies are tested like the others: what they would do.
func TestDisabledPolicies(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"p.yaml": `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  mode: Disabled
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: mark
      do: [{labels: {set: {marked: "yes"}}}]
`,
		"t.yaml": `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [p.yaml]
  cases:
    - name: it is marked
      objects: [{apiVersion: v1, kind: Node, metadata: {name: a}}]
      expect:
        objects: [{apiVersion: v1, kind: Node, metadata: {name: a, labels: {marked: "yes"}}}]
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := outcomes(t, Options{}, folder)
	if r.Failed() != 0 || len(r.Cases) != 1 {
		t.Errorf("%d of %d cases failed", r.Failed(), len(r.Cases))
	}
}

// TestApplied shows when an apply is sent, and what becomes of the objects of
// others.
func TestApplied(t *testing.T) {
	t.Parallel()
	r := outcomes(t, Options{}, "testdata/apply")
	for _, c := range r.Cases {
		if len(c.Failures) > 0 {
			t.Errorf("%s: %s", c.Name, strings.Join(c.Failures, "\n"))
		}
	}
	if len(r.Cases) != 10 {
		t.Errorf("%d cases ran", len(r.Cases))
	}
}
