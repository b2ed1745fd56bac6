package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
)

// TestOptional: an input of a policy about keys without a primary names them in
// full, or is rejected.
func TestOptional(t *testing.T) {
	t.Parallel()
	const secret = "{name: x, apiVersion: v1, kind: Secret, "
	for name, tc := range map[string]struct {
		kind, input string
		want        string // part of the error; "" is none
	}{
		"cluster-wide, by name":            {"Node", secret + "where: item.metadata.name == key.name}", ""},
		"cluster-wide, of a list":          {"Node", "{name: x, apiVersion: v1, kind: Pod, where: \"item.spec.?tolerations.orValue([]).exists(t, t.key == key.name)\"}", ""},
		"cluster-wide, get":                {"Node", "{name: x, apiVersion: v1, kind: Namespace, get: key.name}", ""},
		"namespaced, both":                 {"ConfigMap", secret + "where: item.metadata.name == key.name && item.metadata.namespace == key.namespace}", ""},
		"namespaced, the other way round":  {"ConfigMap", secret + "where: key.namespace == item.metadata.namespace && key.name == item.metadata.name}", ""},
		"namespaced, get":                  {"ConfigMap", secret + "get: key.name}", ""},
		"namespaced, get both":             {"ConfigMap", secret + "get: '{\"namespace\": key.namespace, \"name\": key.name}'}", ""},
		"namespaced, in one namespace":     {"ConfigMap, namespaces: [infra]", secret + "where: item.metadata.name == key.name}", ""},
		"namespaced, the name alone":       {"ConfigMap", secret + "where: item.metadata.name == key.name}", ""},
		"namespaced, of the cluster":       {"ConfigMap", secret + "within: cluster, where: item.metadata.name == key.name}", "without its namespace"},
		"namespaced, in several":           {"ConfigMap, namespaces: [a, b]", secret + "within: cluster, where: item.metadata.name == key.name}", "without its namespace"},
		"namespaced, named by a Namespace": {"ConfigMap", "{name: x, apiVersion: v1, kind: Namespace, get: key.name}", "without its namespace"},
		"computed":                         {"Node", secret + "where: item.metadata.name == key.name + \"-x\"}", "must compare key.name as it is"},
		"one of two":                       {"Node", secret + "where: item.metadata.name == key.name || item.metadata.namespace == \"x\"}", "must compare key.name as it is"},
		"a computed get":                   {"Node", "{name: x, apiVersion: v1, kind: Namespace, get: key.name + \"-x\"}", "this get must be key.name as it is"},
		"nothing names keys":               {"Node", secret + "where: item.metadata.name == \"x\"}", "no input names keys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(header, "for: {apiVersion: v1, kind: Node}", "for: {apiVersion: v1, optional: true, kind: "+tc.kind+"}", 1)
			p, problems := compiled(t, text+"  inputs: ["+tc.input+"]\n  rules: [{name: r, do: [{log: {message: m}}]}]\n", PolicyOptions{})
			var got string
			if err := document.Join(problems); p == nil && err != nil {
				got = err.Error()
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
