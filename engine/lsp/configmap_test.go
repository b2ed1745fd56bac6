package lsp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manifest is a ConfigMap with a policy, a text that is not read, and a mode.
const manifest = `apiVersion: v1
kind: ConfigMap
metadata:
  name: policies
  labels: {edict.dev/policy: "true"}
  annotations:
    edict.dev/mode: nope=Shadow
data:
  README: hello
  p.yaml: |
    apiVersion: edict.dev/v1alpha1
    kind: Policy
    metadata: {name: p}
    spec:
      for: {apiVersion: v1, kind: ConfigMap}
      variables:
        - {name: unused, expression: "1"}

        - {name: wrong, expression: object.nope}
      rules:
        - name: mark
          when: >-
            variables.wrong == 1 &&
              variables.missing
          do: [{labels: {set: {team: a}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: more, labels: {edict.dev/policy: "true"}}
data: {q.yaml: "{apiVersion: edict.dev/v1alpha1, kind: Policy, metadata: {name: q}, spec: {for: {apiVersion: v1, kind: Node},\n  rules: [{name: \"r\", when: 1 > object, do: []}]}}"}
`

// findings returns the findings as what they mark, with the first line of their message.
func (e *editor) findings() (out []string) {
	lines := strings.Split(e.text, "\n")
	for _, d := range e.diagnostics {
		marked := []rune(lines[d.Range.Start.Line])[d.Range.Start.Character:d.Range.End.Character]
		message, _, _ := strings.Cut(d.Message, "\n")
		out = append(out, fmt.Sprintf("%d %q %s", d.Range.Start.Line+1, string(marked), message))
	}
	return out
}

// TestConfigMap: what is wrong in a policy of a ConfigMap is marked in the text of its
// manifest.
func TestConfigMap(t *testing.T) {
	t.Parallel()
	e := edit(t, manifest)
	want := []string{
		`30 "{" the rule "r" does nothing: it has neither do, nor cases, nor stop`,
		`30 ">" found no matching overload for '>' applied to '(int, io.k8s.api.core.v1.Node)'`,
		`7 "nope" there is no policy "nope" in this ConfigMap`,
		`9 "hello" this key is not read: it ends neither in .yaml nor in .rego`,
		`19 ".nope" no field "nope" here`,
		`24 "variables.missing" undefined name "variables.missing"`,
	}
	if diff := cmp.Diff(want, e.findings()); diff != "" {
		t.Error(diff)
	}
}

// TestConfigMapBeside: what a policy of a ConfigMap and one of another file do to each
// other is reported in both.
func TestConfigMapBeside(t *testing.T) {
	t.Parallel()
	e := edit(t, policy)
	other := e.file("a.yaml", fmt.Sprintf(marks, "first", "b"))
	text := strings.NewReplacer("object.nope", "size(key.name)", "variables.missing", "true", "\n---\n", "\n# ---\n").Replace(manifest)
	text, _, _ = strings.Cut(text, "# ---")
	e.open(text)
	want := []string{
		`7 "nope" there is no policy "nope" in this ConfigMap`,
		`9 "hello" this key is not read: it ends neither in .yaml nor in .rego`,
		`17 "unused" the variable "unused" is used by no rule and no metric`,
		`21 "name" the rule "mark" of p writes metadata.labels.team of ConfigMap, and so does the rule "mark" of first`,
	}
	if diff := cmp.Diff(want, e.findings(), cmp.Transformer("place", func(s string) string {
		before, _, _ := strings.Cut(s, " (/")
		return before
	})); diff != "" {
		t.Error(diff)
	}
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": other, "text": fmt.Sprintf(marks, "first", "b")}})
	e.wants("a.yaml\n7: conflicting-writers, p.yaml:21:11 found here")
}
