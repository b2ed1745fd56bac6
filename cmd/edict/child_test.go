package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/edict-dev/edict/test/race"
)

// TestRegoHasLimits: a policy whose Rego takes what memory there is fails its test and ends a
// simulation with an error, as it fails in the controller.
func TestRegoHasLimits(t *testing.T) {
	t.Parallel()
	if race.Enabled || runtime.GOOS != "linux" {
		t.Skip("the memory of a process is limited on Linux only, and not with the race detector")
	}
	folder, config := t.TempDir(), fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: config}, data: {a: %s}}\n", strings.Repeat("a", 30_000))
	for name, text := range map[string]string{
		"greedy.rego": "package greedy\n\nout := count(replace(input.a, \"a\", input.a))\n",
		"greedy.yaml": `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: greedy}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  variables:
    - name: copies
      rego: {query: data.greedy.out, input: {a: "${object.data.a}"}}
  rules:
    - name: copy
      do: [{labels: {set: {copies: "${string(variables.copies)}"}}}]
`,
		"greedy.test.yaml": fmt.Sprintf(`apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: greedy}
spec:
  policies: [greedy.yaml]
  cases:
    - name: a text in the place of each of its letters
      objects: [%s]
      expect: {}
`, strings.TrimSpace(config)),
		"config.yaml": config,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"test", folder},
		{"simulate", "--policies", filepath.Join(folder, "greedy.yaml"), "--objects", filepath.Join(folder, "config.yaml")},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitFindings || !strings.Contains(string(out), "it needs more than the 192 MiB of memory that the process that evaluates Rego may have") {
			t.Errorf("%s: exit code %d: %.2000s", args[0], code, out)
		}
	}
}
