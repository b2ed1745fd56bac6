package policytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFields: an expectation says that a field is set, that it is not a value, and how often
// policies have changed it.
func TestFields(t *testing.T) {
	t.Parallel()
	const (
		policy = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Service}\n" +
			"  rules:\n    - name: r\n      do:\n        - {annotations: {set: {at: \"${object.spec.externalName}\"}}}\n        - {condition: {type: Ready, status: \"${object.spec.externalName == 'a' ? 'True' : 'False'}\"}}\n"
		head    = "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [p.yaml]\n  now: \"2026-03-01T12:00:00Z\"\n"
		service = "apiVersion: v1, kind: Service, metadata: {namespace: d, name: s"
		cases   = "  objects: [{" + service + "}, spec: {externalName: a}}]\n  cases:\n    - name: c\n      steps: [{patch: {" + service + "}, spec: {externalName: b}}}, {patch: {" + service + "}, spec: {externalName: b, sessionAffinity: None}}}]\n      expect:\n        "
	)
	for expect, want := range map[string]string{
		"not: [{" + service + ", annotations: {at: null}}}]":                                                               "",
		"not: [{" + service + ", annotations: {at: a}}, spec: {externalName: a}}]":                                         "",
		"not: [{" + service + ", annotations: {at: b, more: null}}}]":                                                      "metadata.annotations.at of Service s is \"b\"\nmetadata.annotations.more of Service s is absent",
		"not: [{" + service + "}, status: {conditions: [{type: Ready, status: \"True\", lastTransitionTime: null}]}}]":     "",
		"not: [{" + service + "}, status: {conditions: [{type: Ready, status: \"False\"}, {type: Other, status: null}]}}]": "status.conditions[Ready].status of Service s is \"False\"\nstatus.conditions[Other].status of Service s is absent",
		"not: [{" + service + ", finalizers: [a]}, spec: {ports: null}}]":                                                  "spec.ports of Service s is absent",
		"not: [{" + service + "}}]":           "not says nothing of Service s",
		"not: [{" + service + "}, spek: {}}]": "has spek, which the kind has not",
		"not: [{apiVersion: v1, kind: Service, metadata: {namespace: d, name: x}, spec: {externalName: null}}]":                 "Service d/x does not exist",
		"changed: [{" + service + ", annotations: {at: 2}}, spec: {externalName: 0, sessionAffinity: 0}}]":                      "",
		"changed: [{" + service + ", annotations: {at: 1}}}]":                                                                   "changes of Service s differ",
		"changed: [{" + service + "}, status: {conditions: [{type: Ready, status: 2}, {type: Other, status: 0}]}}]":             "",
		"changed: [{" + service + ", annotations: {at: once}}}]":                                                                "changes of Service s differ",
		"changed: [{" + service + "}, spec: {externlName: 0}}]":                                                                 "has spec.externlName, which the kind has not",
		"changed: [{apiVersion: v1, kind: Service, metadata: {namespace: d, name: x}, spec: {externalName: 0}}]":                "Service d/x does not exist",
		"{not: [{" + service + ", annotations: {at: null}}}], changed: [{" + service + ", annotations: {at: 2}}}], errors: []}": "",
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{"p.yaml": policy, "t.yaml": head + cases + expect + "\n"} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		report, err := Run(t.Context(), []string{folder}, Options{})
		if err != nil {
			t.Errorf("%s: %v", expect, err)
			continue
		}
		got := strings.Join(report.Cases[0].Failures, "\n")
		for line := range strings.SplitSeq(want, "\n") {
			if !strings.Contains(got, line) || (got == "") != (want == "") {
				t.Errorf("%s: got %q, want %q", expect, got, want)
			}
		}
	}
}

// TestErrorsAreCounted: an error that comes more or less often than it is expected says so.
func TestErrorsAreCounted(t *testing.T) {
	t.Parallel()
	const policy = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Node}\n  rules: [{name: r, do: [{fail: no tenant}]}]\n"
	for errors, want := range map[string]string{
		"[tenant, tenant]":         "",
		"[tenant]":                 "no tenant (2 times, 1 expected)",
		"[other]":                  `error 1 should contain "other"`,
		"[]":                       "no tenant (2 times)",
		"[tenant, tenant, tenant]": `no error with "tenant" came as error 3: it is expected more often than it came`,
		"[tenant, tenant, other]":  `no error with "other" came`,
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"p.yaml": policy,
			"t.yaml": "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [p.yaml]\n  objects: [{apiVersion: v1, kind: Node, metadata: {name: n}}]\n" +
				"  cases: [{name: c, steps: [{restart: true}], expect: {errors: " + errors + "}}]\n",
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
