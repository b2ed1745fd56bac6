package children_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/children"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/load"
)

const header = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: web}
spec:
  for: {apiVersion: apps/v1, kind: Deployment}
  children:
`

// clusterScoped are the kinds of these tests that have no namespace.
var clusterScoped = map[string]bool{"Namespace": true, "Node": true}

func namespaced(_, kind string) (bool, bool) { return !clusterScoped[kind], true }

func policy(t *testing.T, text string) *v1alpha1.Policy {
	t.Helper()
	file, problems := load.Documents("p.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return file.Policies[0]
}

// TestGolden: what children come to, as an author would have written it.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := expanded(t, policy(t, string(text)))
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func expanded(t *testing.T, p *v1alpha1.Policy) []byte {
	t.Helper()
	problems := &document.Problems{}
	parts := children.Expand(p, namespaced, problems)
	if problems.HasErrors() {
		t.Fatal(problems.List())
	}
	out, err := yaml.Marshal(map[string]any{"inputs": plain(parts.Inputs), "variables": plain(parts.Variables), "rules": plain(parts.Rules), "prune": parts.Prune})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func plain(nodes []*document.Node) (out []any) {
	for _, n := range nodes {
		out = append(out, n.Plain())
	}
	return out
}

// TestProblems: children that cannot be kept are reported where they are wrong.
func TestProblems(t *testing.T) {
	t.Parallel()
	const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}"
	for name, tc := range map[string]struct{ list, want string }{
		"no name":                      {"[{apply: " + configMap + "}]", "a child has no name"},
		"a name that is too long":      {"[{name: " + strings.Repeat("a", 64) + ", apply: " + configMap + "}]", `a child cannot be named "aaaa`},
		"a name that begins with _":    {"[{name: _copy, apply: " + configMap + "}]", `a child cannot be named "_copy"`},
		"a name that ends with _":      {"[{name: copy_, apply: " + configMap + "}]", `a child cannot be named "copy_"`},
		"a name with a blank":          {"[{name: my copy, apply: " + configMap + "}]", `a child cannot be named "my copy"`},
		"no object":                    {"[{name: a}]", `the child "a" needs apply`},
		"an object that is a text":     {"[{name: a, apply: x}]", `the child "a" needs apply`},
		"no apiVersion":                {"[{name: a, apply: {kind: ConfigMap}}]", "needs apiVersion and kind"},
		"a kind that is a number":      {"[{name: a, apply: {apiVersion: v1, kind: 3}}]", "needs apiVersion and kind"},
		"a computed kind":              {"[{name: a, apply: {apiVersion: v1, kind: \"${params.kind}\"}}]", "apiVersion and kind cannot be computed"},
		"no metadata.name":             {"[{name: a, apply: {apiVersion: v1, kind: ConfigMap, metadata: {}}}]", "has no metadata.name"},
		"a generated name":             {"[{name: a, apply: {apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}}]", "has no metadata.name"},
		"computed metadata":            {"[{name: a, apply: {apiVersion: v1, kind: ConfigMap, metadata: \"${x}\"}}]", "has no metadata.name"},
		"computed labels":              {"[{name: a, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: \"${x}\"}}}]", "the labels of a child are written as a mapping"},
		"the same name":                {"[{name: a, apply: " + configMap + "}, {name: a, apply: " + configMap + "}]", `duplicate child "a"`},
		"after one that is unknown":    {"[{name: a, after: [b], apply: " + configMap + "}]", `there is no child "b"`},
		"a circle":                     {"[{name: a, after: [b], apply: " + configMap + "}, {name: b, after: [a], apply: " + configMap + "}]", "comes after itself: a -> b -> a"},
		"an unknown whenDeleted":       {"[{name: a, whenDeleted: Keep, apply: " + configMap + "}]", `whenDeleted cannot be "Keep"`},
		"owned and left behind":        {"[{name: a, owner: true, whenDeleted: Orphan, apply: " + configMap + "}]", "cannot be left behind"},
		"owned without a namespace":    {"[{name: a, owner: true, apply: {apiVersion: v1, kind: Namespace, metadata: {name: x}}}]", "a Namespace has no namespace"},
		"a finalizer without a domain": {"[{name: a, apply: " + configMap + "}]\n  finalizer: children", "the finalizer needs a name with a domain"},
		"a finalizer of what stays":    {"[{name: a, whenDeleted: Orphan, apply: " + configMap + "}]\n  finalizer: example.com/a", "there is nothing to hold it for"},
		"owned elsewhere":              {"[{name: a, owner: true, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: infra}}}]", "cannot be owned"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			problems := &document.Problems{}
			children.Expand(policy(t, header+"    "+tc.list+"\n"), namespaced, problems)
			list := problems.List()
			if len(list) != 1 || !strings.Contains(list[0].Message, tc.want) || list[0].Line == 0 || list[0].Hint == "" {
				t.Errorf("got %v, want %q with its place and a hint", list, tc.want)
			}
		})
	}
}
