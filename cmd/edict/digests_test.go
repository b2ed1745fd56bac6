package main

import (
	"strings"
	"testing"
)

// TestDigestsAreNamed: where a policy reads a digest because it lacks the allowance values,
// the explanation and the error say so.
func TestDigestsAreNamed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	policy := write(t, folder, "policy.yaml", strings.Replace(strings.Split(valuesPolicy, "  children:")[0], "source", "a", 1)+`  rules:
    - {name: r, when: 'base64.decode(inputs.original.data.password) == "x"', do: [{log: {message: x}}]}
`)
	world := write(t, folder, "world.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: registry, namespace: a}, data: {password: c2VjcmV0}}\n")
	if got := program(t, "eval", "inputs.original.data", "--policies", policy, "--objects", world, "--key", "a"); got.stderr != "the values of the Secret original are shown as digests, as the policy lacks the allowance values\n" || got.code != 0 {
		t.Errorf("eval says %q and ends with %d", got.stderr, got.code)
	}
	got := program(t, "explain", "copied", "a", "--policies", policy, "--objects", world)
	for _, want := range []string{"Secret a/registry@2: data.password; the values are digests, as the policy lacks the allowance values", "the policy lacks the allowance values and sees a digest"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("it lacks %q:\n%s%s", want, got.stdout, got.stderr)
		}
	}
}
