package lsp_test

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/lsp"
)

// locals is a policy with names of many scopes.
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
