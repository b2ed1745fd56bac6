package policytest

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
)

// more creates ConfigMaps that it decides about, each with the text of the one before.
const more = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: more}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  rules:
    - name: create
      do: [{create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: d, name: "${object.metadata.name}x"}, data: {text: "${object.data.text}"}}}]
`

// TestEmbeddedIsBounded: tests that run beside what a controller keeps do not grow without
// an end.
func TestEmbeddedIsBounded(t *testing.T) {
	t.Parallel()
	file := load.Source{Path: "more.yaml", Text: []byte(more)}
	found, problems := load.Documents(file.Path, file.Text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	report, err := RunEmbedded(t.Context(), Embedded{
		Tests: []load.Source{{Path: "more.test.yaml", Text: []byte(`apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: more}
spec:
  cases:
    - name: one
      objects: [{apiVersion: v1, kind: ConfigMap, metadata: {namespace: d, name: a}, data: {text: ` + strings.Repeat("x", 200_000) + `}}]
`)}},
		Units:   []*source.Unit{{Document: found.Policies[0], File: file}},
		Schemas: schema.Builtin(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Cases) != 1 || !strings.Contains(strings.Join(report.Cases[0].Failures, "\n"), "there are more than 64 MiB of writes") {
		t.Errorf("%.2000v", report.Cases)
	}
}

// TestSlices: tests that are run in slices come to the same as at once.
func TestSlices(t *testing.T) {
	t.Parallel()
	file := load.Source{Path: "more.yaml", Text: []byte(more)}
	found, _ := load.Documents(file.Path, file.Text)
	test := "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: more}\nspec:\n  cases: [{name: a, expect: {}}, {name: b, expect: {}}]\n"
	e := Embedded{
		Tests: []load.Source{{Path: "1.test.yaml", Text: []byte(test)}, {Path: "2.test.yaml", Text: []byte(test)}},
		Units: []*source.Unit{{Document: found.Policies[0], File: file}}, Schemas: schema.Builtin(), Slice: 1,
	}
	var names []string
	for {
		report, err := RunEmbedded(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range report.Cases {
			names = append(names, c.File+" "+c.Name)
		}
		if e.Skip = report.Next; e.Skip == 0 {
			break
		}
	}
	if got := strings.Join(names, ", "); got != "1.test.yaml a, 1.test.yaml b, 2.test.yaml a, 2.test.yaml b" {
		t.Error(got)
	}
}
