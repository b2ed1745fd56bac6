package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParamsOutputsGolden(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"table":   nil,
		"policy":  {"settings", "-o", "table"},
		"none":    {"cordoned"},
		"yaml":    {"-o", "yaml", "--param", "settings.period=30m", "--param", "settings.kinds=[a, b]"},
		"json":    {"-o", "json", "settings"},
		"unknown": {"setings"},
		"bounds":  {"--param", "settings.period=2h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, append([]string{"params", "--policies", rbacPolicies}, args...)...)
			golden(t, "testdata/params/"+name+".golden", out+outcome(err))
		})
	}
}

const labelled = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  params: {label: a, on: true, names: [x]}
  inputs: [{name: nodes, apiVersion: v1, kind: Node, when: "params.on"}]
  rules: [{name: r, do: [{labels: {set: {"${params.label}": "${params.names[0]}${string(size(inputs.nodes))}"}}}]}]
`

// TestParamsFile: all commands that read policies take values from a file, which may lie beside
// them and have values for others; --param wins.
func TestParamsFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "p.yaml", labelled)
	values := write(t, folder, "values.yaml", "p: {label: fromFile, names: [y]}\nother: {label: fromFile}\n")
	world := write(t, t.TempDir(), "world.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n}}\n")
	test := write(t, folder, "p_test.yaml", "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [p.yaml]\n"+
		"  objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n}}]\n"+
		"  cases: [{name: c, expect: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: n, labels: {a: x0}}}]}}]\n")
	on := []string{"--policies", folder, "--objects", world}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"simulate":   {append([]string{"simulate", "-o", "yaml"}, on...), "fromFile: y0"},
		"plan":       {append([]string{"plan"}, on...), "metadata.labels.fromFile"},
		"explain":    {append([]string{"explain", "p", "n/c"}, on...), `"fromFile":"y0"`},
		"eval":       {append([]string{"eval", "params.label"}, on...), "fromFile"},
		"explore":    {append([]string{"explore", "--export", "-"}, on...), "fromFile"},
		"snapshot":   {append([]string{"snapshot", "--out", filepath.Join(t.TempDir(), "w.yaml")}, on...), "1 object"},
		"verify":     {append([]string{"verify", "--time", "2s"}, on...), "Nothing was found"},
		"params":     {[]string{"params", "--policies", folder}, "fromFile"},
		"check":      {[]string{"check", folder}, "0 errors, 0 warnings"},
		"test":       {[]string{"test", test}, "1 failed"},
		"graph":      {[]string{"graph", folder}, "ConfigMap"},
		"rbac":       {[]string{"rbac", folder}, "configmaps"},
		"allowances": {[]string{"allowances", folder}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := execute(t, append(slices.Clone(tc.args), "--params", values)...); !strings.Contains(out, tc.want) {
				t.Errorf("%v: %v\n%s", tc.args, err, out)
			}
			if _, err := execute(t, append(slices.Clone(tc.args), "--params", write(t, t.TempDir(), "bad.yaml", "p: {label: [}\n"))...); err == nil {
				t.Error("a file that is no YAML is taken")
			}
			if out, err := execute(t, append(slices.Clone(tc.args), "--params", values, "--param", "p.names=3")...); err == nil || strings.Contains(out, "fromFile: y") {
				t.Errorf("a value that is wrong is taken: %s", out)
			}
		})
	}
}

// TestFilesOfParams: a file of params has one document and is no larger than a ConfigMap.
func TestFilesOfParams(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for text, want := range map[string]string{
		"a: {b: c}\n---\nd: {e: f}\n":                    "has one document, this has 2",
		"a: {b: " + strings.Repeat("x", maxParams) + "}": "may have 1048576 bytes, this has more",
		"a: {b: c}\n": "",
	} {
		values := paramValues{files: []string{writeFile(t, folder, "params.yaml", text)}}
		_, err := values.overrides()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
