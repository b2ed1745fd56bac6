package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/check"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/test/fixture"
)

// TestSharedNames: what the finding says agrees with what a simulation of two primary
// objects in each of two namespaces comes to: where nothing is found, there is no error.
func TestSharedNames(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: Service}\n"
	spec := func(name, data string) string {
		return `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: other, name: "` + name + `"}, data: {x: "` + data + `"}}`
	}
	rule := func(more, name, data string) string {
		return "  rules:\n    - {name: r, " + more + "do: [{apply: " + spec(name, data) + "}]}\n"
	}
	child := func(more, name, data string) string {
		return "  children:\n    - {name: c, " + more + "apply: " + spec(name, data) + "}\n"
	}
	const (
		object = "${object.metadata.name}-${object.metadata.namespace}"
		key    = "${key.name}-${key.namespace}"
		list   = `forEach: 'object.spec.ports.map(p, p.name)', as: port, `
	)
	near := func(text string) string {
		return strings.Replace(text, "namespace: other", `namespace: "${key.namespace}"`, 1)
	}
	for name, tc := range map[string]struct {
		text  string
		found bool
	}{
		"one name":                     {rule("", "one", key), true},
		"one name by a param":          {"  params: {n: one}\n" + rule("", "${params.n}", key), true},
		"one name by a variable":       {"  variables: [{name: n, value: one}]\n" + rule("", "${variables.n}", key), true},
		"one name by a local":          {rule("variables: [{name: n, value: one}], ", "${n}", key), true},
		"one name of an input":         {"  inputs: [{name: ns, apiVersion: v1, kind: Namespace, get: '\"other\"'}]\n" + rule("when: inputs.ns != null, ", "${inputs.ns.metadata.name}", key), true},
		"content of a variable":        {"  variables: [{name: n, expression: key.name}]\n" + rule("", "one", "${variables.n}"), true},
		"content of the namespace":     {rule("", "one", "${key.namespace}"), true},
		"one of a namespace":           {near(rule("", "one", key)), true},
		"named by the namespace":       {rule("", "${object.metadata.namespace}", key), true},
		"items":                        {rule(list, "one", "${port}"), true},
		"a child":                      {child("", "one", "x"), true},
		"a child of each item":         {child(list, "one", "${port}"), true},
		"a child in its own namespace": {near(child("", "one", "x")), true},
		"the name of the key":          {rule("", "${key.name}", key), true},
		"the name of the object":       {rule("", "x-${object.metadata.name}", "${object.spec.ports[0].name}-"+key), true},
		"a child by the name":          {child("", "${key.name}", "x"), true},
		"a child of each item by name": {"  variables: [{name: n, expression: key.name}]\n" + child(list, "${variables.n}", "${port}"), true},

		"the key":                      {rule("", key, key), false},
		"the object":                   {rule("", object, key), false},
		"the key by a variable":        {"  variables: [{name: n, expression: key.name + key.namespace}]\n" + rule("", "${variables.n}", key), false},
		"the key by a local":           {rule("variables: [{name: n, expression: key.name + key.namespace}], ", "${n}", key), false},
		"the key by an input":          {"  inputs: [{name: ns, apiVersion: v1, kind: Namespace, get: key.name + key.namespace}]\n" + rule("when: inputs.ns != null, ", "${inputs.ns.metadata.name}", key), false},
		"the key, by itself":           {child("", key, "x"), false},
		"the item and the key":         {rule(list, "${port}-"+key, "${port}"), false},
		"the item, by itself":          {rule(`forEach: '[key.name + key.namespace]', as: port, `, "${port}", "x"), false},
		"one object":                   {rule("", "one", "x"), false},
		"one object of a namespace":    {near(rule("", "one", "${key.namespace}")), false},
		"for one by its name":          {rule(`when: 'key.name == "a" && key.namespace == "m"', `, "one", key), false},
		"for one, by a variable":       {"  variables: [{name: mine, expression: object.metadata.name in ['a'] && key.namespace == 'm'}]\n" + rule("when: variables.mine, ", "one", key), false},
		"for one, its name a variable": {"  variables: [{name: n, expression: key.name}, {name: id, expression: variables.n}]\n" + rule(`when: 'variables.id == "a" && key.namespace == "m"', `, "one", key), false},
		"the name, one object":         {rule("", "${key.name}", "${key.name}"), false},
		"the name, of a namespace":     {near(rule("", "${key.name}", key)), false},
		"the name, in one namespace":   {"  variables: [{name: mine, expression: object.metadata.namespace == 'm'}]\n" + rule("when: variables.mine, ", "${key.name}", key), false},
		"one of an owner's, not made":  {rule("when: 'false', ", key, "x"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fixture.Compiled(t, head+tc.text)
			found := slices.ContainsFunc(check.Findings(b), func(p document.Problem) bool { return p.Code == document.SharedName })
			manifests := []string{"{apiVersion: v1, kind: Namespace, metadata: {name: other}}"}
			for _, at := range []string{"{namespace: m, name: a}", "{namespace: m, name: b}", "{namespace: n, name: a}", "{namespace: n, name: b}"} {
				manifests = append(manifests, "{apiVersion: v1, kind: Service, metadata: "+at+", spec: {ports: [{name: x, port: 1}, {name: y, port: 2}]}}")
			}
			errors := settled(t, b, manifests).Result().Errors
			if found != tc.found || found == (len(errors) == 0) {
				t.Errorf("found: %v, want %v; errors %v", found, tc.found, errors)
			}
		})
	}
}
