package load_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
)

const matrixHeader = "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [.]\n  cases:\n"

// TestMatrix: a case with a matrix is one case per row, with the values of the row.
func TestMatrix(t *testing.T) {
	t.Parallel()
	file, problems := load.Documents("t.yaml", []byte(matrixHeader+`
    - name: first
      matrix:
        - {n: 1, text: a, labels: {x: "y"}}
        - {n: 3, text: b, labels: null}
      objects:
        - {apiVersion: v1, kind: ConfigMap, metadata: {name: "of-$(text)", labels: $(labels)}, data: {"$(text)": $(n), both: "$(n)$(text)"}}
    - name: by $(n)
      matrix: [{n: 7}]
    - name: plain
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var names []string
	for _, c := range file.Tests[0].Spec.Cases {
		names = append(names, c.Name.Value)
	}
	if diff := cmp.Diff([]string{"first [n=1, text=a]", "first [n=3, text=b, labels=null]", "by 7", "plain"}, names); diff != "" {
		t.Error(diff)
	}
	want := []any{
		map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "of-a", "labels": map[string]any{"x": "y"}}, "data": map[string]any{"a": int64(1), "both": "1a"}},
		map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "of-b", "labels": nil}, "data": map[string]any{"b": int64(3), "both": "3b"}},
	}
	for i := range want {
		if diff := cmp.Diff(want[i], file.Tests[0].Spec.Cases[i].Objects[0].Plain()); diff != "" {
			t.Errorf("row %d: %s", i, diff)
		}
	}
}

func TestMatrixProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{name: a, matrix: 3}":                                                             "a matrix is a list of rows",
		"{name: a, matrix: [3]}":                                                           "a row of a matrix is a mapping",
		"{name: a, matrix: [{replicas: 3}], now: $(replica)}":                              "the row has no $(replica); it has replicas",
		"{name: a, matrix: [{replicas: 3}], now: 'T$(replica)'}":                           "the row has no $(replica); it has replicas",
		"{name: a, matrix: [{replicas: 3}], now: $(budget)}":                               "the row has no $(budget); it has replicas",
		"{name: a, matrix: [{a: 1, budget: 2}, {a: 3}], objects: [{x: '$(a)/$(budget)'}]}": "the row has no $(budget); it has a",
		"{name: a, matrix: [{a: 1, n: 2}, {a: 2, n: 3}], objects: [{x: $(a)}]}":            "nothing in the case uses $(n)",
		"{name: a, matrix: [{a: 1, n: 2}], objects: [{$(m): 1}]}":                          "the row has no $(m); it has a, n",
	} {
		_, problems := load.Documents("t.yaml", []byte(matrixHeader+"    - "+text+"\n"))
		problems = slices.DeleteFunc(problems, func(p document.Problem) bool {
			return p.Severity == document.Warning && !strings.Contains(want, "uses")
		})
		if len(problems) != 1 || !strings.Contains(problems[0].Message, want) || problems[0].Line == 0 {
			t.Errorf("%s: %v, want %q", text, problems, want)
		}
	}
}

// TestMatrixIsBounded: a short document does not stand for cases that no memory holds.
func TestMatrixIsBounded(t *testing.T) {
	t.Parallel()
	long := func(s string, n int) string { return strings.Repeat(s, n) }
	names := ""
	for i := range 12_000 {
		names += fmt.Sprintf("$(a%d)", i)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"a long text, many times":      {"{name: a, matrix: [{x: " + long("a", 100_000) + "}], objects: [{data: '" + long("$(x)", 30_000) + "'}]}", "have more than 16 MiB"},
		"a mapping, many times":        {"{name: a, matrix: [{x: [" + long("a, ", 20_000) + "]}], objects: [" + long("$(x), ", 20_000) + "]}", "have more than 16 MiB"},
		"many rows of a long case":     {"{name: a, matrix: [" + long("{}, ", 20_000) + "], objects: [{data: " + long("a", 100_000) + "}]}", "have more than 16 MiB"},
		"many rows of a case of many":  {"{name: a, matrix: [" + long("{}, ", 20_000) + "], objects: [" + long("a, ", 20_000) + "]}", "have more than 16 MiB"},
		"several matrices":             {long("{name: a, matrix: [{x: "+long("a", 1000)+"}], objects: [{data: '"+long("$(x)", 1000)+"'}]}\n    - ", 20) + "{name: b}", "have more than 16 MiB"},
		"many rows of many names":      {"{name: a, matrix: [" + long("{}, ", 20_000) + "{x: 1}], objects: ['" + names + "']}", "have more than 16 MiB"},
		"a long value, not many times": {"{name: a, matrix: [{x: " + long("a", 100_000) + ", y: 1}], description: '" + long("$(y)", 10_000) + "'}", ""},
		"many rows":                    {"{name: a, matrix: [" + long("{x: 1}, ", 10_000) + "]}", ""},
		"a long text":                  {"{name: a, matrix: [{x: " + long("a", 100_000) + "}], description: '" + long("$(x)", 100) + "'}", ""},
	} {
		_, problems := load.Documents("t.yaml", []byte(matrixHeader+"    - "+tc.text+"\n"))
		var got []string
		for _, p := range problems {
			if strings.Contains(p.Message, "MiB") {
				got = append(got, p.Message)
			}
		}
		if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want)) {
			t.Errorf("%s: %v, want %q", name, got, tc.want)
		}
	}
}

// TestMatrixFillsOnce: a value that looks like a name stays as it is, whatever the order.
func TestMatrixFillsOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		file, problems := load.Documents("t.yaml", []byte(matrixHeader+"    - {name: '$(a)-$(b)', matrix: [{a: '$(b)', b: '$(a)'}]}\n"))
		if len(problems) > 0 || file.Tests[0].Spec.Cases[0].Name.Value != "$(b)-$(a)" {
			t.Fatal(problems, file.Tests)
		}
	}
}

// TestNamesOfOthers: what Kubernetes and shells write as a name of a matrix is written
// stays as it is.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"$(NODE_NAME)", "--node=$(NODE_NAME)", "echo $(date) >> log", "$$(replicas)", "$(cat a | sort)", "${variables.replica}"} {
		_, problems := load.Documents("t.yaml", []byte(matrixHeader+"    - {name: a, matrix: [{replicas: 3}], objects: [{x: '"+text+"', y: $(replicas)}]}\n"))
		if len(problems) != 0 {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
