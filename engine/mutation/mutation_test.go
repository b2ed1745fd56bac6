package mutation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/mutation"
)

const policy = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: mark
      when: object.metadata.name == "a" && 1 < 2
      do:
        - labels: {set: {big: "${object.metadata.name == 'a' ? 'yes' : 'no'}"}}
        - log: {message: "marked"}
    - name: table
      finally: true
      cases:
        - {name: one, when: object.metadata.name.startsWith("b"), do: [{labels: {set: {row: "1"}}}]}
        - {name: two, do: [{labels: {set: {row: "2"}}}]}
`

const tests = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [policy.yaml]
  cases:
    - name: a
      objects: [{apiVersion: v1, kind: Node, metadata: {name: a}}]
      expect:
        objects: [{apiVersion: v1, kind: Node, metadata: {name: a, labels: {big: "yes", row: "2"}}}]
    - name: b
      objects: [{apiVersion: v1, kind: Node, metadata: {name: b}}]
      expect:
        objects: [{apiVersion: v1, kind: Node, metadata: {name: b, labels: {big: null, row: "1"}}}]
`

func write(t *testing.T, policy, tests string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"policy.yaml": policy, "policy_test.yaml": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTake: each part of a take is a mutant, and so is the whole of it.
func TestTake(t *testing.T) {
	t.Parallel()
	const policy = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: take
      do:
        - select:
            candidates: [{as: n, in: "[3, 2, 1]"}]
            take: {weight: n, budget: "4", skipTooLarge: true, max: "9"}
            together: [{annotations: {set: {taken: "${json.encode(taken.map(t, t.n))}"}}}]
            then: [{annotations: {set: {last: "${string(n)}"}}}]
`
	const tests = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [policy.yaml]
  cases:
    - name: a
      objects: [{apiVersion: v1, kind: Node, metadata: {name: a}}]
      expect:
        objects: [{apiVersion: v1, kind: Node, metadata: {name: a, annotations: {taken: "[3,1]"}}}]
`
	out, err := mutation.Run(t.Context(), []string{write(t, policy, tests)}, mutation.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	var survived []string
	for _, m := range out.Survivors {
		survived = append(survived, m.Change)
	}
	slices.Sort(survived)
	if diff := cmp.Diff([]string{"2 becomes 3", "9 becomes 10", "max of take removed"}, survived); diff != "" {
		t.Errorf("survivors (-want +got):\n%s", diff)
	}
}

// TestCondition: what a policy says of a condition is noticed only if a test has one.
func TestCondition(t *testing.T) {
	t.Parallel()
	const policy = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: mark
      when: conditions.isTrue(object.?status.conditions, "Ready")
      do: [{labels: {set: {ready: "yes"}}}]
`
	const node = "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {conditions: [{type: Ready, status: \"True\"}]}}"
	for metadata, want := range map[string]int{`{name: a, labels: {ready: "yes"}}`: 0, "{name: a}": 2} {
		tests := fmt.Sprintf(`apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [policy.yaml]
  cases:
    - {name: a, objects: [%s], expect: {objects: [{apiVersion: v1, kind: Node, metadata: %s}]}}
`, node, metadata)
		out, err := mutation.Run(t.Context(), []string{write(t, policy, tests)}, mutation.Options{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		about := 0
		for _, m := range out.Survivors {
			if strings.Contains(m.Change, "conditions.isTrue") || strings.Contains(m.Change, "Ready") {
				about++
			}
		}
		if about != want {
			t.Errorf("a test of the metadata %s: %d changes of the condition survive, want %d: %v", metadata, about, want, out.Survivors)
		}
	}
}

// TestRun: what the tests look at is noticed, and what they do not survives.
func TestRun(t *testing.T) {
	t.Parallel()
	out, err := mutation.Run(t.Context(), []string{write(t, policy, tests)}, mutation.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	var survived []string
	for _, m := range out.Survivors {
		survived = append(survived, m.Change)
	}
	slices.Sort(survived)
	want := []string{
		"'no' becomes 'no~'", "2 becomes 3", "< becomes <=", "action log removed", "finally removed",
	}
	if diff := cmp.Diff(want, survived); diff != "" {
		t.Errorf("survivors (-want +got):\n%s", diff)
	}
	if out.Mutants != out.Killed+len(survived) || out.Killed < 10 || out.NotRun != 0 || out.Score >= 100 || out.Score < 60 {
		t.Errorf("%+v", out)
	}
}

// TestKinds: a change is one of all policies of a document, and noticed in one of them.
func TestKinds(t *testing.T) {
	t.Parallel()
	const policy = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {kinds: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: Node}]}
  rules:
    - name: mark
      when: object.metadata.name != "b"
      do: [{labels: {set: {big: "yes"}}}]
`
	const tests = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [policy.yaml]
  only: [p-node]
  cases:
    - name: a
      objects: [{apiVersion: v1, kind: Node, metadata: {name: a}}]
      expect: {effects: [{rule: mark}]}
`
	dir := write(t, policy, tests)
	other := strings.NewReplacer("[p-node]", "[p-deployment]", "apiVersion: v1, kind: Node, metadata: {name: a}", "apiVersion: apps/v1, kind: Deployment, metadata: {name: b, namespace: x}", "{effects: [{rule: mark}]}", "{effects: []}").Replace(tests)
	if err := os.WriteFile(filepath.Join(dir, "other_test.yaml"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{nil, {"p"}, {"p-deployment"}} {
		out, err := mutation.Run(t.Context(), []string{dir}, mutation.Options{Seed: 3, Policies: names})
		if err != nil {
			t.Fatal(err)
		}
		var survived []string
		for _, m := range out.Survivors {
			survived = append(survived, m.Policy+": "+m.Change)
		}
		if diff := cmp.Diff([]string(nil), survived); diff != "" || out.Killed < 4 {
			t.Errorf("%v: %+v\nsurvivors (-want +got):\n%s", names, out, diff)
		}
	}
}

// TestOrder: the order of the mutants decides nothing.
func TestOrder(t *testing.T) {
	t.Parallel()
	dir := write(t, policy, tests)
	var first *mutation.Result
	for seed := range uint64(3) {
		out, err := mutation.Run(t.Context(), []string{dir}, mutation.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		out.Seed = 0
		if first == nil {
			first = out
		}
		if len(first.Survivors) != len(out.Survivors) || first.Killed != out.Killed || first.Invalid != out.Invalid {
			t.Errorf("seed %d: %+v, seed 0: %+v", seed, out, first)
		}
	}
}

// TestFailing: tests that fail as they are say nothing about a change.
func TestFailing(t *testing.T) {
	t.Parallel()
	dir := write(t, policy, tests+"        errors: [never]\n")
	if out, err := mutation.Run(t.Context(), []string{dir}, mutation.Options{}); err == nil {
		t.Errorf("got %+v, want an error", out)
	}
}

// TestOnly: a name of which no policy is tested is an error: nothing would be noticed, and
// nothing not.
func TestOnly(t *testing.T) {
	t.Parallel()
	out, err := mutation.Run(t.Context(), []string{write(t, policy, tests)}, mutation.Options{Policies: []string{"other"}})
	if err == nil || !strings.Contains(err.Error(), `no case tests a policy "other", only `) {
		t.Errorf("%+v, %v", out, err)
	}
}
