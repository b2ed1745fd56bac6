package policytest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/test/race"
)

const updatedPolicy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Pod}
  rules:
    - name: label
      do: [{labels: {set: {app: "${key.name}"}}}]
    - name: fail
      when: has(object.metadata.annotations)
      do: [{fail: it has annotations}]
`

const outdated = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [p.yaml]
  objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n}}]
  cases:
    # what is written
    - name: label
      expect:
        effects: []   # nothing
        objects:
          # the Pod
          - {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n, labels: {app: b}}}
        requeue: ["2026-01-01T00:00:00Z"]
    - name: fails
      patch: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n, annotations: {x: y}}}]
      expect:
        errors: [something else]
        effects:
          - {rule: label, target: {kind: Pod}, patch: {metadata: {labels: {app: other}}}}
          - {rule: gone}
`

const updatedText = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [p.yaml]
  objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n}}]
  cases:
    # what is written
    - name: label
      expect:
        effects:
          - policy: p
            rule: label
            verb: patch
            target: {apiVersion: v1, kind: Pod, namespace: "n", name: a}
            patch: {metadata: {labels: {app: a}}}   # nothing
        objects:
          # the Pod
          - {apiVersion: v1, kind: Pod, metadata: {namespace: "n", name: a, labels: {app: a}}}
        requeue: []
    - name: fails
      patch: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n, annotations: {x: y}}}]
      expect:
        errors: [it has annotations, it has annotations]
        effects:
          - {rule: label, target: {kind: Pod}, patch: {metadata: {labels: {app: a}}}}
`

// TestUpdate: what came out stands in the place of what was expected, and the tests
// pass; a matrix is left to a person.
func TestUpdate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "t.yaml")
	write(t, filepath.Join(folder, "p.yaml"), updatedPolicy)
	write(t, file, outdated)
	report, err := policytest.Run(t.Context(), []string{file}, policytest.Options{})
	if err != nil || report.Failed() != 2 {
		t.Fatal(report, err)
	}
	if n, err := report.Update(); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(updatedText, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if report, err = policytest.Run(t.Context(), []string{file}, policytest.Options{}); err != nil || report.Failed() != 0 {
		t.Fatal(report, err)
	}
}

// matrices has, for each < and >, what is written there before and after.
const matrices = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [p.yaml]
  objects: []
  cases:
    - name: all rows agree
      matrix: [{name: a, app: x}, {name: b, app: y}]   # two
      objects: [{apiVersion: v1, kind: Pod, metadata: {name: $(name), namespace: n, labels: {keep: $(app)}}}]
      expect:
        # one write
        effects:
          - {rule: label, target: {name: $(name)}, patch: {metadata: {labels: {app: $(name), team: <b>c<>}}}}
        objects:
          - {apiVersion: v1, kind: Pod, metadata: {<name: $(name), namespace: n>namespace: "n", name: $(name)<>, labels: {keep: $(app), team: <b>c<>}}}   # the Pod
    - name: values of the rows
      matrix:
        - name: a
          effects:< []>
            - policy: p
              rule: label
              verb: patch
              target: {apiVersion: v1, kind: Pod, namespace: "n", name: a}
              patch: {metadata: {labels: {app: a, team: c}}}<>   # of a
        - {name: b, effects: [{rule: label}]}
      objects: [{apiVersion: v1, kind: Pod, metadata: {name: $(name), namespace: n}}]
      expect: {effects: $(effects)}
    - name: a row that holds
      matrix: [{name: a}, {name: b}]
      objects: [{apiVersion: v1, kind: Pod, metadata: {name: $(name), namespace: n}}]
      expect: {effects: [{patch: {metadata: {labels: {app: <a>$(name)<>}}}}]}
    - name: no row differs
      matrix: [{name: a}, {name: b}]
      objects: [{apiVersion: v1, kind: Pod, metadata: {name: $(name), namespace: n}}]
      expect: {effects: [{patch: {metadata: {labels: {app: $(name)}}}}]}
    - name: one row comes this far
      matrix: [{name: a}, {name: b}]
      objects: [{apiVersion: v1, kind: Pod, metadata: {name: $(name), namespace: n}}]
      expect: {objects: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n, labels: {team: d}}}]}
    - name: texts
      matrix: [{zone: a, id: 1}, {zone: b, id: 1}, {zone: b, id: 22}]
      objects: [{apiVersion: v1, kind: Pod, metadata: {name: pod-$(zone)-a-$(id), namespace: n}}]
      expect: {effects: [{target: {name: <old>pod-$(zone)-a-$(id)<>}, patch: {metadata: {labels: {app: <a>pod-$(zone)-a-$(id)<>, team: c}}}}]}
    - name: a new item
      matrix: [{name: a}, {name: b}]
      objects: [{apiVersion: v1, kind: Pod, metadata: {name: $(name), namespace: n}}]
      expect:
        effects:< []>
          - policy: p
            rule: label
            verb: patch
            target: {apiVersion: v1, kind: Pod, namespace: "n", name: $(name)}
            patch: {metadata: {labels: {app: $(name), team: c}}}<>
    - name: no name
      matrix: [{metadata: {name: a, namespace: n}}, {metadata: {name: b, namespace: n}}]
      objects: [{apiVersion: v1, kind: Pod, metadata: $(metadata)}]
      expect: {effects: [{patch: {metadata: {labels: {app: x}}}}]}
`

var marked = regexp.MustCompile(`<([^<>]*)>([^<>]*)<>`)

// TestUpdateMatrix: an expectation is replaced where the rows agree, with the names of the
// matrix that are right; where they do not, the error names them, and it stays.
func TestUpdateMatrix(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "t.yaml")
	write(t, filepath.Join(folder, "p.yaml"), strings.Replace(updatedPolicy, `app: "${key.name}"`, `app: "${key.name}", team: c`, 1))
	write(t, file, marked.ReplaceAllString(matrices, "$1"))
	report, err := policytest.Run(t.Context(), []string{file}, policytest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := report.Update()
	if n != 6 || err == nil {
		t.Fatal(n, err)
	}
	for _, want := range []string{
		`the rows of the matrix do not agree, and no name of it stands for the difference: "no name []" has "a", "no name []" has "b"; add a name with these values to the rows and write $(NAME) in their place, or make a case of its own of a row`,
		"t.yaml:35:26: not all rows of the matrix have come this far: change it by hand",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if diff := cmp.Diff(marked.ReplaceAllString(matrices, "$2"), read(t, file)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUpdateComesBack: tests that follow a policy to another text and back expect what
// they did.
func TestUpdateComesBack(t *testing.T) {
	if race.Enabled {
		t.Skip("takes long with the race detector")
	}
	t.Parallel()
	folder := t.TempDir()
	for _, from := range []string{"policies", "policy-tests", "test/crds"} { // policies/schemas leads to the last
		if err := os.CopyFS(filepath.Join(folder, from), os.DirFS("../../"+from)); err != nil {
			t.Fatal(err)
		}
	}
	policy := filepath.Join(folder, "policies", "storage-pool-eligibility.yaml")
	tests := filepath.Join(folder, "policy-tests", "storage-pool-eligibility")
	was := read(t, policy)
	const said, says = "calculated successfully", "are known"
	for _, file := range filesOf(t, tests) { // the others stay as they are
		if !strings.Contains(read(t, file), said) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := plainOf(t, tests)
	for _, text := range []string{strings.ReplaceAll(was, said, says), was} {
		write(t, policy, text)
		report, err := policytest.Run(t.Context(), []string{tests}, policytest.Options{})
		if err != nil || report.Failed() == 0 {
			t.Fatal(report, err)
		}
		if n, err := report.Update(); n < report.Failed() || err != nil {
			t.Fatal(n, err)
		}
		if report, err = policytest.Run(t.Context(), []string{tests}, policytest.Options{}); err != nil || report.Failed() != 0 {
			t.Fatal(report.Failed(), err)
		}
	}
	if diff := cmp.Diff(before, plainOf(t, tests)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// plainOf returns what the files of a folder say.
func plainOf(t *testing.T, folder string) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, file := range filesOf(t, folder) {
		var problems document.Problems
		for _, n := range document.ParseUnbounded(file, []byte(read(t, file)), &problems) {
			out[filepath.Base(file)] = n.Plain()
		}
	}
	return out
}

func filesOf(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
