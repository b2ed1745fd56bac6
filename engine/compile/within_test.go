package compile

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/document"
)

// TestOwnNamespace: which inputs are restricted to the namespace of the key, by which index,
// and where within says nothing.
func TestOwnNamespace(t *testing.T) {
	t.Parallel()
	const pods, far = "{name: x, apiVersion: v1, kind: Pod", ", within: cluster"
	for name, tc := range map[string]struct {
		kind, input string
		own         bool
		namespace   string // that is watched
		want        string // part of the error; "" is none
	}{
		"a list":                         {"ConfigMap", pods + "}", true, "", ""},
		"the default, written out":       {"ConfigMap", pods + ", within: namespace}", true, "", ""},
		"of the cluster":                 {"ConfigMap", pods + far + "}", false, "", ""},
		"of a namespace":                 {"ConfigMap", pods + `, namespace: '"a"'}`, false, "a", ""},
		"one object":                     {"ConfigMap", pods + ", get: key.name}", false, "", ""},
		"of one namespace":               {"ConfigMap, namespaces: [a]", pods + "}", true, "a", ""},
		"of the cluster, for one":        {"ConfigMap, namespaces: [a]", pods + far + "}", false, "", ""},
		"of several namespaces":          {"ConfigMap, namespaces: [a, b]", pods + "}", true, "", ""},
		"for a cluster-wide kind":        {"Node", pods + "}", false, "", ""},
		"of a cluster-wide kind":         {"ConfigMap", "{name: x, apiVersion: v1, kind: Node}", false, "", ""},
		"of an unknown kind":             {"ConfigMap", "{name: x, apiVersion: example.com/v1, kind: Widget}", true, "", ""},
		"of an unknown kind, for one":    {"ConfigMap, namespaces: [a]", "{name: x, apiVersion: example.com/v1, kind: Widget}", true, "", ""},
		"of an unknown kind, of all":     {"ConfigMap", "{name: x, apiVersion: example.com/v1, kind: Widget, within: cluster}", false, "", ""},
		"another value":                  {"ConfigMap", pods + ", within: all}", false, "", `within cannot be "all"`},
		"with get":                       {"ConfigMap", pods + far + ", get: key.name}", false, "", "has get, so within has no meaning"},
		"with namespace":                 {"ConfigMap", pods + far + `, namespace: '"a"'}`, false, "", "has namespace and within"},
		"a kind without namespaces":      {"ConfigMap", "{name: x, apiVersion: v1, kind: Node, within: cluster}", false, "", "a Node belongs to no namespace"},
		"a kind without any, as default": {"ConfigMap", "{name: x, apiVersion: v1, kind: Node, within: namespace}", false, "", "a Node belongs to no namespace"},
		"for a kind without namespaces":  {"Namespace", pods + far + "}", false, "", "a Namespace belongs to no namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(header, "for: {apiVersion: v1, kind: Node}", "for: {apiVersion: v1, kind: "+tc.kind+"}", 1)
			p, problems := compiled(t, text+"  inputs: ["+tc.input+"]\n  rules: [{name: r, do: [{log: {message: \"${string(dyn(inputs.x) == dyn(null))}\"}}]}]\n", PolicyOptions{})
			if p == nil {
				if err := document.Join(problems); tc.want == "" || !strings.Contains(err.Error(), tc.want) || problems[0].Hint == "" || problems[0].Line < 6 {
					t.Errorf("got %v, want %q with its place and a hint", err, tc.want)
				}
				return
			}
			in := p.Inputs[0]
			if tc.want != "" || in.Own != tc.own || in.Source.Namespace != tc.namespace || in.Narrow.Namespace.Value != tc.namespace {
				t.Errorf("got %+v watched in %q (%q), want %q", in.Own, in.Source.Namespace, in.Narrow.Namespace.Value, tc.want)
			}
			if indexed := in.Index != "" && in.Join.Exact; indexed != tc.own {
				t.Errorf("index %q, exact %t", in.Index, in.Join.Exact)
			}
		})
	}
}
