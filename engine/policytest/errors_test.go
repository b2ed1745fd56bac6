package policytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompileErrorsOnce: a policy that does not compile is described by the first
// case, not by each.
func TestCompileErrorsOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("p.yaml", "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, when: wrong, do: [{log: {message: m}}]}]\n")
	write("t.yaml", "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [p.yaml]\n  cases: [{name: a}, {name: b}, {name: c}]\n")
	report, err := Run(t.Context(), []string{folder}, Options{})
	if err != nil || len(report.Cases) != 3 {
		t.Fatalf("%v, %+v", err, report)
	}
	for i, c := range report.Cases {
		text := strings.Join(c.Failures, "\n")
		if strings.Contains(text, `undefined name "wrong"`) != (i == 0) || text == "" {
			t.Errorf("case %s says %q", c.Name, text)
		}
	}
}

// TestErrorsAreTexts: what is no list of texts is no expectation, also if no error comes.
func TestErrorsAreTexts(t *testing.T) {
	t.Parallel()
	for errors, want := range map[string]string{
		"[{message: boom}]": "errors must be a list of texts, each a part of an error's message, not a mapping",
		"boom":              "errors must be a list of texts, each a part of an error's message, not a string",
		"[[]]":              "errors must be a list of texts, each a part of an error's message, not a list",
		"[]":                "",
		"null":              "",
		"[404]":             `no error with "404" came`,
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"p.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [{log: {message: m}}]}]\n",
			"t.yaml": "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [p.yaml]\n  cases: [{name: a, expect: {errors: " + errors + "}}]\n",
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		report, err := Run(t.Context(), []string{folder}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(report.Cases[0].Failures, "\n"); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("errors: %s gives %q, want %q", errors, got, want)
		}
	}
}

// TestErrorsHavePlaces: what is wrong with a test is told where it stands.
func TestErrorsHavePlaces(t *testing.T) {
	t.Parallel()
	const node = "{apiVersion: v1, kind: Node, metadata: {name: n}}"
	for spec, want := range map[string]string{
		"policies: [q.yaml]\n  cases: [{name: a}]":                                                                           "t.yaml:5:14: stat ",
		"policies: [p.yaml]\n  cases: [{name: a, steps: [{advance: -2h}]}]":                                                  `t.yaml:6:39: the clock does not go back: "-2h"`,
		"policies: [p.yaml]\n  objects: [" + node + ", " + node + "]\n  cases: [{name: a}]":                                  "t.yaml:6:64: Node n stands twice in one list, first at ",
		"policies: [p.yaml]\n  objects: [" + node + "]\n  cases: [{name: a, objects: [" + node + "]}]":                       "",
		"policies: [p.yaml]\n  objects: [{apiVersion: v1, kind: Node, metadata: {name: n}, spek: {}}]\n  cases: [{name: a}]": "t.yaml:6:13: the world's Node n has spek, which the kind has not",
		"policies: [p.yaml]\n  cases: [{name: a, params: {pp: {x: 1}}}]":                                                     `the policy "pp", which does not exist`,
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"p.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [{log: {message: m}}]}]\n",
			"t.yaml": "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  " + spec + "\n",
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		report, err := Run(t.Context(), []string{folder}, Options{})
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.Join(report.Cases[0].Failures, "\n")
		}
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s gives %q, want %q", spec, got, want)
		}
	}
}

// TestUnexpectedErrors: an error that comes in each evaluation of a key is named once.
func TestUnexpectedErrors(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const rules = "[{name: a, do: [{labels: {set: {a: b}}}]}, {name: b, when: key.name == 'n', do: [{fail: broken}]}]"
	for name, text := range map[string]string{
		"p.yaml": "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: " + rules + "\n",
		"t.yaml": "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [p.yaml]\n  objects: [{apiVersion: v1, kind: Node, metadata: {name: n}}]\n  cases: [{name: a, expect: {}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := Run(t.Context(), []string{folder}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(report.Cases[0].Failures, "\n")
	if strings.Count(got, "not expected") != 1 || !strings.HasSuffix(got, "broken (2 times)") {
		t.Error(got)
	}
}
