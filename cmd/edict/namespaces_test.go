package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesInNamespaces: two objects with one name are told apart, a name without its
// namespace is answered with where it is, and no error is left out.
func TestNamesInNamespaces(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"p.yaml": `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  rules:
    - {name: mark, do: [{labels: {set: {a: b}}}]}
    - {name: port, do: [{annotations: {set: {port: "${string(int(object.data.port))}"}}}]}
    - {name: at last, finally: true, do: [{annotations: {set: {more: "${string(int(object.data.port) + 1)}"}}}]}
`,
		"n.yaml": `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: n}
spec:
  for: {apiVersion: v1, kind: Node}
  rules: [{name: mark, do: [{labels: {set: {a: b}}}]}]
`,
		"objects": `{apiVersion: v1, kind: ConfigMap, metadata: {name: shop, namespace: default}, data: {port: "80"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: shop, namespace: market}, data: {port: x}}
---
{apiVersion: v1, kind: Node, metadata: {name: shop}}
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const number = "this text is no whole number of 64 bits; test it before"
	for _, tc := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"simulate"}, 0, []string{"ConfigMap/default/shop ", "ConfigMap/market/shop ", "Node/shop ", number}},
		{[]string{"plan"}, 2, []string{"decided in part: p market/shop", number, "(and 1 more error)"}},
		{[]string{"explain", "p", "shop"}, exitFindings, []string{"there is no ConfigMap shop", "the kind has namespaces: write default/shop or market/shop"}},
		{[]string{"explain", "p", "default/shopp"}, exitFindings, []string{`did you mean "default/shop"?`}},
		{[]string{"explain", "n", "default/shop"}, exitFindings, []string{"the kind has no namespaces: write shop"}},
		{[]string{"eval", "--policy", "p", "--key", "shop", "object.data.port"}, exitFindings, []string{"there is no ConfigMap shop", "write default/shop or market/shop"}},
	} {
		got := program(t, append(tc.args, "--policies", folder, "--objects", filepath.Join(folder, "objects"))...)
		for _, want := range tc.want {
			if got.code != tc.code || !strings.Contains(got.stdout+got.stderr, want) {
				t.Errorf("%v: exit code %d, want %d and %q\n%s%s", tc.args, got.code, tc.code, want, got.stdout, got.stderr)
			}
		}
	}
}
