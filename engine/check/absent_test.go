package check_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestNullObject: that object may be null is told of rules that are evaluated for keys
// without an object, which those of a policy with children are not.
func TestNullObject(t *testing.T) {
	t.Parallel()
	const rules = `  rules:
    - name: mark
      when: object.metadata.?labels[?"tier"].orValue("") == "x"
      do: [{annotations: {set: {a: b}}}]
`
	const children = `  children:
    - {name: q, forEach: "object.?spec.finalizers.orValue([])", as: f, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: "${f}", namespace: "${object.metadata.name}"}}}
`
	for name, tc := range map[string]struct {
		spec string
		null bool
	}{
		"an object":                 {"  for: {apiVersion: v1, kind: Namespace}\n" + rules, false},
		"children":                  {"  for: {apiVersion: v1, kind: Namespace}\n" + children + rules, false},
		"optional":                  {"  for: {apiVersion: v1, kind: Namespace, optional: true}\n  inputs: [{name: l, apiVersion: v1, kind: LimitRange, where: item.metadata.namespace == key.name}]\n" + strings.Replace(rules, "when: ", "when: size(inputs.l) > 0 && ", 1), true},
		"an optional with children": {"  for: {apiVersion: v1, kind: Namespace, optional: true}\n  inputs: [{name: l, apiVersion: v1, kind: LimitRange, where: item.metadata.namespace == key.name}]\n" + children + strings.Replace(rules, "when: ", "when: size(inputs.l) > 0 && ", 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := strings.Join(findingsWith(t, "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n"+tc.spec), "\n")
			if strings.Contains(found, "object is null where") != tc.null {
				t.Errorf("got %s", found)
			}
		})
	}
}

// TestAbsentThroughVariables: an expression in a variable fails where it fails by itself,
// however often and wherever the variable is used.
func TestAbsentThroughVariables(t *testing.T) {
	t.Parallel()
	const reads, asks = `object.metadata.annotations["ttl"]`, `object.metadata.?annotations[?"ttl"].orValue("")`
	for shape, warned := range map[string]bool{
		`X == "1h"`:                                    true,
		`X != "" && object.metadata.name == "n"`:       true,
		`object.metadata.name == "n" && X != ""`:       true,
		`X != "" && size(X) > 1`:                       true,
		`X != "a" || X != "b"`:                         true,
		`(X != "" ? 1 : 2) > 1 && X == "a"`:            true,
		`["a"].all(i, X == i) && X != "b"`:             true,
		`A != "" && X != ""`:                           false,
		`X != "" && A != ""`:                           false,
		`A != "b" && X != ""`:                          true,
		`X != "" && A != "b"`:                          true,
		`A == "b" || X != ""`:                          true,
		`A == "b" ? false : X != ""`:                   true,
		`!(A == "b") && X != ""`:                       true,
		`A == "b" && X != ""`:                          false,
		`A != "b" || X != ""`:                          false,
		`A == "" ? false : X != ""`:                    false,
		`X != "" || (A == "" && X == "b")`:             false,
		`A != "" ? X == "a" : false`:                   false,
		`(A == "" || X == "a") && X != "b"`:            false,
		`["a"].all(i, A == i) && ["b"].all(i, X == i)`: false,
	} {
		for name, of := range map[string]func(text string) string{
			"inline":    func(text string) string { return text },
			"variables": func(string) string { return "" },
			"locals":    func(string) string { return "" },
		} {
			x, a, variables, locals := of(reads), of(asks), "", ""
			list := fmt.Sprintf("[{name: x, expression: '%s'}, {name: a, expression: '%s'}]", reads, asks)
			switch name {
			case "variables":
				x, a, variables = "variables.x", "variables.a", "  variables: "+list+"\n"
			case "locals":
				x, a, locals = "x", "a", "      variables: "+list+"\n"
			}
			when := strings.NewReplacer("X", x, "A", a).Replace(shape)
			policy := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Namespace}\n" + variables +
				"  rules:\n    - name: mark\n" + locals + "      when: '" + when + "'\n      do: [{labels: {set: {a: b}}}]\n"
			found := strings.Join(findingsWith(t, policy), "\n")
			if got := strings.Contains(found, `"annotations" may be absent`); got != warned {
				t.Errorf("%s, %s: a warning: %t, want %t\n%s", shape, name, got, warned, found)
			}
		}
	}
}

// TestAbsentThroughInputs: an object for which where, keyBy or groupBy fails is not in the
// input; one for which orderBy fails is, and fails whatever reads the field.
func TestAbsentThroughInputs(t *testing.T) {
	t.Parallel()
	const class = "item.spec.storageClassName"
	for given, warned := range map[string]bool{
		"":                         true,
		"orderBy: [" + class + "]": true,
		`orderBy: ['item.spec.?storageClassName.orValue("")']`: true,
		"where: " + class + ` == "fast"`:                       false,
		"groupBy: " + class:                                    false,
	} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			list := "inputs.claims"
			if strings.HasPrefix(given, "groupBy") {
				list = "inputs.claims.map(k, inputs.claims[k]).flatten()"
			}
			found := strings.Join(findingsWith(t, `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Namespace}
  inputs:
    - name: claims
      apiVersion: v1
      kind: PersistentVolumeClaim
      `+given+`
  rules:
    - name: count
      do: [{annotations: {set: {n: "${string(size(`+list+`.filter(c, c.spec.storageClassName == 'fast')))}"}}}]
`, "p"), "\n")
			if strings.Contains(found, `"storageClassName" may be absent`) != warned {
				t.Errorf("got %s", found)
			}
		})
	}
}

// TestAbsentInSelections: what a step of a selection asks for, or its condition, guards
// the step and those after it, and no list of candidates.
func TestAbsentInSelections(t *testing.T) {
	t.Parallel()
	const has, read = "has(node.spec.providerID)", `node.spec.providerID == "a"`
	for name, tc := range map[string]struct {
		candidates, steps, rest string
		want                    int
	}{
		"nothing":                       {steps: "{filter: f, keep: '" + read + "'}", want: 1},
		"the condition of the step":     {steps: "{score: s, when: has(object.data) && has(object.data.x), points: 'object.data.x == node.metadata.name ? 1 : 0'}"},
		"the opposite condition":        {steps: "{score: s, when: '!(object.?data.x.orValue(\"\") != \"\")', points: 'object.data.x == node.metadata.name ? 1 : 0'}", want: 1},
		"the step before":               {steps: "{filter: f, keep: '" + has + "'}, {score: s, points: '" + read + " ? 1 : 0'}"},
		"the step after":                {steps: "{score: s, points: '" + read + " ? 1 : 0'}, {filter: f, keep: '" + has + "'}", want: 1},
		"the order":                     {steps: "{filter: f, keep: '" + has + "'}", rest: "orderBy: [node.spec.providerID], claim: node.spec.providerID"},
		"the order without a guard":     {steps: "{filter: f, keep: 'true'}", rest: "orderBy: [node.spec.providerID]", want: 1},
		"a list of candidates":          {candidates: "orderBy: [node.spec.providerID], ", steps: "{filter: f, keep: '" + has + "'}", want: 1},
		"what is taken, after the step": {steps: "{filter: f, keep: '" + has + "'}", rest: "take: {max: 3, weight: 'size(node.spec.providerID)'}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.rest != "" {
				tc.rest = ", " + tc.rest
			}
			found := strings.Join(findingsWith(t, `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  inputs: [{name: nodes, apiVersion: v1, kind: Node}]
  rules:
    - name: choose
      do:
        - select: {candidates: [{as: node, `+tc.candidates+`in: inputs.nodes}], summary: "${total}", pipeline: [`+tc.steps+`]`+tc.rest+`, then: [{annotations: {set: {a: "${node.metadata.name}"}}}]}
`, "p"), "\n")
			if strings.Count(found, "may be absent") != tc.want {
				t.Errorf("want %d, got %s", tc.want, found)
			}
		})
	}
}
