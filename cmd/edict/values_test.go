package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The policy copies a Secret, fails with the value of another and may see both.
const valuesPolicy = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: copied}
spec:
  for: {apiVersion: v1, kind: Namespace}
  inputs: [{name: original, apiVersion: v1, kind: Secret, get: '{"namespace": "source", "name": "registry"}'}]
  children:
    - name: copy
      when: inputs.original != null && key.name != "source"
      apply: {apiVersion: v1, kind: Secret, metadata: {namespace: "${key.name}", name: copy}, type: Opaque, data: "${inputs.original.?data}"}
  rules:
    - name: fails
      when: key.name == "fails" && inputs.original != null
      do: [{log: {message: "${string(timestamp(base64.decode(inputs.original.data.password)))}"}}]
    - name: fails with the text
      when: key.name == "fails" && inputs.original != null
      do: [{log: {message: "${string(timestamp(inputs.original.data.password))}"}}]
---
apiVersion: edict.dev/v1alpha1
kind: Allowances
metadata: {name: allowances}
spec:
  allow:
    - {policy: copied, apiGroup: "", kind: Secret, fields: [read, values, create, delete, "metadata.labels.edict.dev/child", "metadata.labels.edict.dev/policy", "metadata.annotations.edict.dev/primary-name", type, data]}
`

const valuesTest = `apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: t}
spec:
  policies: [policy.yaml]
  world: [world.yaml]
  cases:
    - name: c
      expect:
        objects: [{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: copy}, data: {password: ENCODED, other: ENCODED}}]
`

// TestNoCommandPrintsValues: no command has a value of a Secret in what it prints or
// writes, encoded or not, also where a policy sees and copies it.
func TestNoCommandPrintsValues(t *testing.T) {
	t.Parallel()
	const secret = "correct horse/\"battery\""
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	folder := t.TempDir()
	policy := write(t, folder, "policy.yaml", valuesPolicy)
	world := write(t, folder, "world.yaml", `{apiVersion: v1, kind: Namespace, metadata: {name: source}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: fails}}
---
{apiVersion: v1, kind: Secret, metadata: {name: registry, namespace: source}, type: Opaque, data: {password: `+encoded+`}}
`)
	test := write(t, folder, "policy_test.yaml", strings.ReplaceAll(valuesTest, "ENCODED", encoded))
	timeline := write(t, folder, "later/timeline.yaml", `[{at: 1m, patch: {apiVersion: v1, kind: Secret, metadata: {name: registry, namespace: source}, data: {password: bGF0ZXIgc2VjcmV0}}}]`)
	export, captured := filepath.Join(folder, "later", "page.html"), filepath.Join(folder, "later", "captured.yaml")
	counterexample := filepath.Join(folder, "later", "counterexample.yaml")
	var covered []string
	for _, tt := range []struct {
		args    []string
		outputs string
		file    string
	}{
		{[]string{"simulate", "--timeline", timeline, "--until", "2m"}, "table yaml json", ""},
		{[]string{"simulate", "--trace"}, "yaml json", ""},
		{[]string{"plan", "--until", "1m"}, "text json", ""},
		{[]string{"capture", "copied", "shop", "--out", captured}, "text json", captured},
		{[]string{"capture", "copied", "fails"}, "text json", ""},
		{[]string{"explain", "copied", "shop"}, "text json", ""},
		{[]string{"explain", "copied", "fails"}, "text json", ""},
		{[]string{"explore", "--export", export}, "", export},
		{[]string{"snapshot"}, "text json", ""},
		{[]string{"verify", "--objects-per-kind", "0", "--changes", "0", "--states", "200", "--out", counterexample}, "text json", counterexample},
		{[]string{"eval", "inputs.original", "--key", "shop"}, "yaml json", ""},
		{[]string{"eval", "timestamp(inputs.original.data.password)", "--key", "shop"}, "yaml json", ""},
		{[]string{"test", test}, "text json junit lcov", ""},
	} {
		covered = append(covered, tt.args[0])
		args := tt.args
		if args[0] != "test" {
			args = append(args, "--policies", policy, "--objects", world, "--now", "2026-01-01T00:00:00Z")
		}
		for output := range strings.SplitSeq(tt.outputs, " ") {
			one := args
			if output != "" {
				one = append(args[:len(args):len(args)], "-o", output)
			}
			got := program(t, one...)
			if got.code == 64 {
				t.Errorf("%v: %s", one, got.stderr)
			}
			text := got.stdout + got.stderr
			if tt.file != "" {
				written, err := os.ReadFile(tt.file)
				if err != nil {
					t.Errorf("%v: %v\n%s", one, err, text)
				}
				text += string(written)
			}
			for _, value := range []string{"correct horse", encoded, "later secret", "bGF0ZXIgc2VjcmV0"} {
				if strings.Contains(text, value) {
					t.Errorf("%v has %s in\n%s", one, value, text)
				}
			}
		}
	}
	for _, c := range root().Commands() {
		if reads := c.Flags().Lookup("objects") != nil; reads && !slices.Contains(covered, c.Name()) {
			t.Errorf("%s reads objects and is not tried here", c.Name())
		}
	}
}
