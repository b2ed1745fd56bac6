package lsp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manifest is a ConfigMap with a policy and a text that is not read, and its set with a mode.
const manifest = `apiVersion: edict.dev/v1alpha1
kind: PolicySet
metadata: {name: s}
spec:
  source: {configMap: {name: policies}}
  mode: Enforce
  modes:
    nope: Shadow
---
apiVersion: v1
kind: ConfigMap
metadata: {name: policies}
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
metadata: {name: more}
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
		`35 "{" the rule "r" does nothing: it has neither do, nor cases, nor stop`,
		`35 ">" found no matching overload for '>' applied to '(int, io.k8s.api.core.v1.Node)'`,
		`14 "hello" this key is not read: it ends neither in .yaml nor in .rego`,
		`24 ".nope" no field "nope" here`,
		`29 "variables.missing" undefined name "variables.missing"`,
		`8 "Shadow" there is no policy "nope" in the ConfigMap policies`,
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
	text := strings.NewReplacer("object.nope", "size(key.name)", "variables.missing", "true", "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}", "\n# ---").Replace(manifest)
	text = text[:strings.LastIndex(text, "# ---")]
	e.open(text)
	want := []string{
		`14 "hello" this key is not read: it ends neither in .yaml nor in .rego`,
		`22 "unused" the variable "unused" is used by no rule and no metric`,
		`26 "name" the rule "mark" of s/p writes metadata.labels.team of ConfigMap, and so does the rule "mark" of first`,
		`8 "Shadow" there is no policy "nope" in the ConfigMap policies`,
	}
	if diff := cmp.Diff(want, e.findings(), cmp.Transformer("place", func(s string) string {
		before, _, _ := strings.Cut(s, " (/")
		return before
	})); diff != "" {
		t.Error(diff)
	}
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": other, "text": fmt.Sprintf(marks, "first", "b")}})
	e.wants("a.yaml\n7: conflicting-writers, p.yaml:26:11 found here")
}
