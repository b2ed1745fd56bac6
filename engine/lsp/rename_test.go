package lsp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/lsp"
)

// locals is a policy with names of many scopes. What a renaming is to change is
// marked: <a> has to become <b>.
const locals = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  inputs:
    - name: pods
      apiVersion: v1
      kind: Pod
      where: item.spec.nodeName == key.name && item.spec.containers.exists(c, c.name == "c")
  variables:
    - name: where
      expression: inputs.pods.filter(p, p.metadata.name != "p").map(p, p.metadata.name)
    - name: all
      forEach: inputs.pods
      as: pod
      variables:
        - {name: own, expression: pod.metadata.name}
      value: {pod: "${pod.metadata.name}", own: pod}
      orderBy: [own]
  rules:
    - name: first pod
      forEach: inputs.pods
      as: pod
      variables:
        - {name: where, expression: "variables.where.exists(pod, pod == key.name) ? pod.spec.nodeName : 'pod'"}
        - name: near
          forEach: pod.spec.containers
          as: one
          value: ${one.name + where}
      do:
        - labels: {set: {"pod-${where}": "${pod.metadata.name} of pod"}}
    - name: second
      forEach: inputs.pods
      as: pod
      when: >-
        pod.spec.containers.exists(c,
        c.name == pod.metadata.name && pod.spec.containers.all(d, d.name !=
        c.name))
      do:
        - annotations: {set: {of: pod, x: "${pod.metadata.name}"}}
`

// edits asks for a new name, and returns the text with it.
func (e *editor) renamed(at, name string) (string, error) {
	e.t.Helper()
	params := e.at(at)
	params["newName"] = name
	var got struct {
		Changes map[string][]struct {
			Range   lsp.Range `json:"range"`
			NewText string    `json:"newText"`
		} `json:"changes"`
	}
	if err := e.request("textDocument/rename", params, &got); err != nil {
		return "", err
	}
	lines := strings.Split(e.text, "\n")
	for _, edit := range slices.Backward(got.Changes[e.uri]) {
		r := edit.Range
		lines[r.Start.Line] = lines[r.Start.Line][:r.Start.Character] + edit.NewText + lines[r.End.Line][r.End.Character:]
	}
	return strings.Join(lines, "\n"), nil
}

// TestRenameLocal renames what has a scope: only in it.
func TestRenameLocal(t *testing.T) {
	t.Parallel()
	e := edit(t, locals)
	for at, changes := range map[string][]string{
		"filter(|p, ":                 {"filter(p, p.meta", "filter(n, n.meta"},
		"map(p, |p.metadata":          {"map(p, p.meta", "map(n, n.meta"},
		"exists(|c, c.name == \"c\")": {"exists(c, c.name == \"c\")", "exists(n, n.name == \"c\")"},
		"exists(pod, |pod == key":     {"exists(pod, pod == key", "exists(n, n == key"},
		"c.n|ame))":                   nil,
		"        c|.name))":           {"exists(c,\n        c.name", "exists(n,\n        n.name", "!=\n        c.name", "!=\n        n.name"},
		"{name: wh|ere,":              {"{name: where", "{name: n", "one.name + where", "one.name + n", "pod-${where}", "pod-${n}"},
		"one.name + wh|ere":           {"{name: where", "{name: n", "one.name + where", "one.name + n", "pod-${where}", "pod-${n}"},
		"as: on|e":                    {"as: one", "as: n", "one.name", "n.name"},
		"orderBy: [o|wn]":             {"{name: own", "{name: n", "orderBy: [own]", "orderBy: [n]"},
		"expression: po|d.metadata.name}": {"as: pod\n      variables:\n        - {name: own", "as: n\n      variables:\n        - {name: own",
			"expression: pod.metadata", "expression: n.metadata", `"${pod.metadata.name}", own: pod}`, `"${n.metadata.name}", own: pod}`},
		"? po|d.spec.nodeName": {"as: pod\n      variables:\n        - {name: where", "as: n\n      variables:\n        - {name: where",
			"? pod.spec", "? n.spec", "forEach: pod.spec", "forEach: n.spec", "${pod.metadata.name} of", "${n.metadata.name} of"},
		"as: po|d\n      when": {"as: pod\n      when", "as: n\n      when", "        pod.spec.containers.exists", "        n.spec.containers.exists",
			"== pod.metadata.name && pod.spec", "== n.metadata.name && n.spec", `x: "${pod.`, `x: "${n.`},
	} {
		got, err := e.renamed(at, "n")
		if changes == nil {
			if err == nil {
				t.Errorf("%s can be renamed", at)
			}
			continue
		}
		if want := strings.NewReplacer(changes...).Replace(locals); err != nil || got != want {
			t.Errorf("%s: %v\n%s", at, err, cmp.Diff(want, got))
		}
	}
}

// TestRenameLocalRefuses a name that would stand for something else, or make other
// names do so.
func TestRenameLocalRefuses(t *testing.T) {
	t.Parallel()
	e := edit(t, locals)
	for _, tc := range []struct{ at, name, want string }{
		{"filter(|p, ", "in", "the expression on line 13 cannot be read with the name in"},
		{"exists(|pod, pod == key", "key", "key is used already on line 26, for something else"},
		{"exists(|c,\n", "d", "d is used already on line 39, for something else"},
		{"exists(|c,\n", "pod", "pod is used already on line 37, for something else"},
		{"{name: wh|ere,", "pod", "there is an item of the rule first pod pod already, on line 24"},
		{"as: on|e", "where", "there is a variable of the rule first pod where already, on line 26"},
		{"as: po|d\n      when", "c", "c is used already on line 38, for something else"},
		{"as: po|d\n      when", "inputs", "error"},
		{"as: po|d\n      when", "1", `"1" is no name`},
		{"kind: No|de", "n", "there is no name here"},
		{"key.na|me &&", "n", "there is no name here"},
	} {
		if got, err := e.renamed(tc.at, tc.name); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s to %s: %v %s", tc.at, tc.name, err, got)
		}
	}
}

// TestDefinitionOfLoops leads to the name in the macro.
func TestDefinitionOfLoops(t *testing.T) {
	t.Parallel()
	e := edit(t, locals)
	for at, want := range map[string]lsp.Position{
		"map(p, |p.metadata":             {Line: 12, Character: strings.Index("      expression: inputs.pods.filter(p, p.metadata.name != \"p\").map(p,", "p,") + 31},
		"        c|.name))":              {Line: 36, Character: 35},
		"? po|d.spec":                    {Line: 23, Character: 10},
		"orderBy: [o|wn]":                {Line: 17, Character: 17},
		"\"${po|d.metadata.name}\", own": {Line: 15, Character: 10},
	} {
		var got *struct {
			Range lsp.Range `json:"range"`
		}
		if err := e.request("textDocument/definition", e.at(at), &got); err != nil || got == nil || got.Range.Start != want {
			t.Errorf("%s: %v %+v, want %+v", at, err, got, want)
		}
	}
}
