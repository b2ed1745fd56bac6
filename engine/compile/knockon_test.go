package compile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
	"github.com/edict-dev/edict/engine/schema"
)

// TestOneErrorPerMistake: what only follows from a mistake is not reported.
func TestOneErrorPerMistake(t *testing.T) {
	t.Parallel()
	const (
		child   = "  children: [{name: c, WHEN, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: y}}}]\n"
		rule    = "  rules: [{name: r, when: WHEN, do: [{labels: {set: {a: b}}}]}]\n"
		compute = "apiVersion and kind cannot be computed (write it out, so that the needed permissions are known)"
	)
	when := func(text, expression string) string { return strings.Replace(text, "WHEN", expression, 1) }
	for name, tc := range map[string]struct{ spec, want string }{
		"a variable with a taken name": {"  variables: [{name: leaving, expression: '1'}]\n" + when(rule, "variables.leaving > 3 && !leaving"), `f.yaml:6:22: this variable cannot be named "leaving": every expression has that name already (take another name)`},
		"whenDeleted":                  {when(child, "whenDeleted: Keep"), `f.yaml:6:37: whenDeleted cannot be "Keep" (Delete, which is the default, or Orphan)`},
		"a child that is read":         {when(child, "whenDeleted: Keep") + when(rule, "size(children.c) > 0"), `f.yaml:6:37: whenDeleted cannot be "Keep" (Delete, which is the default, or Orphan)`},
		"a name of a child":            {strings.Replace(when(child, "owner: false"), "name: c", "name: my c", 1), `f.yaml:6:21: a child cannot be named "my c" (at most 63 letters, digits and _, a letter first and no _ at the end: expressions read it as children.NAME, and a label of the objects has it)`},
		"an unquoted negation":         {"  rules:\n  - name: r\n    when: !initial\n    do: [{labels: {set: {a: b}}}]\n", `f.yaml:8:11: YAML reads a leading ! as a tag (put the expression in quotes: "!initial")`},
		"a computed kind of a child":   {strings.Replace(when(child, "owner: false"), "kind: ConfigMap", `kind: "${params.k}"`, 1), "f.yaml:6:68: " + compute},
		"a computed kind to apply":     {`  rules: [{name: r, do: [{apply: {apiVersion: v1, kind: "${params.k}", metadata: {name: x, namespace: y}}}]}]` + "\n", "f.yaml:6:57: " + compute},
		"a computed kind to patch":     {`  rules: [{name: r, do: [{patch: {of: {apiVersion: v1, kind: "${params.k}", namespace: x, name: y}, value: {data: {}}}}]}]` + "\n", "f.yaml:6:62: " + compute},
		"a computed kind of inputs":    {`  inputs: [{name: i, apiVersion: v1, kind: "${params.k}"}]` + "\n" + when(rule, "size(inputs.i) > 0"), "f.yaml:6:44: " + compute},
		"no kind of inputs":            {"  inputs: [{name: i, apiVersion: v1}]\n" + when(rule, "size(inputs.i) > 0"), `f.yaml:6:12: the input "i" needs apiVersion and kind, or kinds`},
		"get and where":                {"  inputs: [{name: i, apiVersion: v1, kind: Node, get: key.name, where: 'true'}]\n" + when(rule, "inputs.i != null"), `f.yaml:6:72: the input "i" has get, so this field has no meaning (get names one object, the others narrow a list)`},
		"a param without a default":    {"  params: {p: {type: int}}\n" + when(rule, "params.p > 3"), `f.yaml:6:12: the param "p" has no default (p: VALUE, or p: {default: VALUE})`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, problems := load.Documents("f.yaml", []byte(header+tc.spec))
			if len(file.Policies) == 1 {
				compiler, err := New(Options{Schemas: schema.Builtin()})
				if err != nil {
					t.Fatal(err)
				}
				_, more := compiler.Policy(file.Policies[0], PolicyOptions{})
				problems = append(problems, more...)
			}
			if diff := cmp.Diff(tc.want, fmt.Sprint(document.Join(problems))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
