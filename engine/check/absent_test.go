package check_test

import (
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
