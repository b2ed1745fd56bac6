package check_test

import (
	"strings"
	"testing"
)

// TestRest: a policy that writes for ever on a plain object is found, however it does so.
func TestRest(t *testing.T) {
	t.Parallel()
	const label = `object.metadata.?labels[?"a"].orValue("no")`
	for name, tc := range map[string]struct {
		spec  string
		found bool
	}{
		"a version that every write changes": {`  rules: [{name: r, do: [{annotations: {set: {a: "${object.metadata.resourceVersion}"}}}]}]`, true},
		"through a variable of the policy":   {"  variables: [{name: v, expression: object.metadata.resourceVersion}]\n" + `  rules: [{name: r, do: [{annotations: {set: {a: "${variables.v}"}}}]}]`, true},
		"to and fro":                         {`  rules: [{name: r, do: [{labels: {set: {a: '${` + label + ` == "yes" ? "no" : "yes"}'}}}]}]`, true},
		"to and fro by a condition":          {"  rules:\n    - {name: r, when: '" + label + ` != "yes"', do: [{labels: {set: {a: "yes"}}}]}` + "\n    - {name: s, when: '" + label + ` == "yes"', do: [{labels: {set: {b: "${string(int(object.metadata.?labels[?'b'].orValue('0')) + 1)}"}}}]}`, true},
		"two labels that change places":      {`  rules: [{name: r, do: [{labels: {set: {a: '${object.metadata.?labels[?"b"].orValue("1")}', b: '${object.metadata.?labels[?"a"].orValue("2")}'}}}]}]`, true},
		"with the labels of the selector":    {"  rules: [{name: r, do: [{annotations: {set: {a: '${object.metadata.labels[\"app\"] + object.metadata.resourceVersion}'}}}]}]", true},
		"a value of its own":                 {`  rules: [{name: r, do: [{annotations: {set: {a: "${object.metadata.name}"}}}]}]`, false},
		"what ends":                          {`  rules: [{name: r, when: 'size(` + label + `) < 9', do: [{labels: {set: {a: '${` + label + ` + "o"}'}}}]}]`, false},
		"set back in one evaluation":         {"  rules:\n    - {name: r, do: [{labels: {set: {a: null}}}]}\n" + `    - {name: s, do: [{labels: {set: {a: "yes"}}}]}`, false},
		"a field that the object lacks":      {`  rules: [{name: r, do: [{labels: {set: {a: "${object.spec.podCIDR + object.metadata.resourceVersion}"}}}]}]`, false},
		"in Shadow":                          {"  mode: Shadow\n" + `  rules: [{name: r, do: [{annotations: {set: {a: "${object.metadata.resourceVersion}"}}}]}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(forNodes, "kind: Node}", "kind: Node, selector: app=x}", 1) + tc.spec + "\n"
			if got := strings.Join(found(t, text), "\n"); strings.Contains(got, "self-feeding") != tc.found {
				t.Errorf("found %q", got)
			}
		})
	}
}
