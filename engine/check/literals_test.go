package check_test

import (
	"strings"
	"testing"
)

// TestLiterals: texts that the API server refuses wherever they are written.
func TestLiterals(t *testing.T) {
	t.Parallel()
	const (
		config = "apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}"
		secret = "apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}"
	)
	apply := func(object string) string { return "  rules: [{name: r, do: [{apply: {" + object + "}}]}]\n" }
	child := func(object string) string {
		return "  children: [{name: c, apply: {" + object + "}}]\n  rules: []\n"
	}
	patch := func(value string) string {
		return "  rules: [{name: r, do: [{patch: {of: {apiVersion: v1, kind: ConfigMap, namespace: a, name: b}, value: {" + value + "}}}]}]\n"
	}
	for name, tc := range map[string]struct{ spec, want string }{
		"a key with a blank":          {apply(config + `, data: {"a b": x}`), `"a b" cannot be the key of data`},
		"a key with a slash":          {apply(secret + `, data: {a/b: eA==}`), `"a/b" cannot be the key of data`},
		"a key of binary data":        {apply(config + `, binaryData: {..: eA==}`), `".." cannot be the key of binaryData`},
		"a key of a child":            {child(config + `, data: {"a b": x}`), `"a b" cannot be the key of data`},
		"a key in a patch":            {patch(`data: {"a b": x}`), `"a b" cannot be the key of data`},
		"a key that a patch removes":  {patch(`data: {"a b": null}`), ""},
		"a computed key":              {apply(config + `, data: {"${key.name} b": x}`), ""},
		"the name of a file":          {apply(config + `, data: {A_b-c.yaml: x}`), ""},
		"an annotation with a slash":  {apply("apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, annotations: {a/b: c}}"), ""},
		"a label of a child":          {child("apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, labels: {a: b c}}"), `"b c" cannot be the value of a label`},
		"the name of a child":         {child("apiVersion: v1, kind: ConfigMap, metadata: {name: A, namespace: b}"), `"A" cannot be the name of an object`},
		"a name of a template":        {child(`apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Name }}-x", namespace: "${key.name}"}`), `"{{ .Name }}-x" cannot be the name of an object (an expression in a text is written ${ }, as in "${key.name}-x")`},
		"a name of a shell":           {child(`apiVersion: v1, kind: ConfigMap, metadata: {name: "$(key.name)-x", namespace: b}`), "written ${ }"},
		"the name of a role":          {apply("apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: 'a:B_c', namespace: b}"), ""},
		"the name of a budget":        {apply("apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: B_c, namespace: b}"), ""},
		"the name of a stateful set":  {apply("apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a.b, namespace: b}"), `"a.b" cannot be the name of an object`},
		"the name of another kind":    {apply("apiVersion: v1, kind: ConfigMap, metadata: {name: a.b, namespace: b}"), ""},
		"where a child has failed":    {"  children: [{name: c, apply: {" + config + "}, onError: [{apply: {" + config + `, data: {"a b": x}}}]}]` + "\n  rules: []\n", `"a b" cannot be the key of data`},
		"an integer of another field": {apply(config + `, data: {a: "3000000000"}`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(findingsWith(t, forNodes+tc.spec), "\n")
			if tc.want == "" && strings.Contains(got, "cannot be the") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
