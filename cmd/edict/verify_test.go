package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fight = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: NAME}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  rules:
    - name: claim
      do:
        - labels: {set: {owner: NAME}}
`

// TestVerify: what is found is exit code 1 and a test that fails, what is not is 0.
func TestVerify(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	one := write(t, folder, "a.yaml", strings.ReplaceAll(fight, "NAME", "a"))
	world := write(t, folder, "world.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n")
	if out, err := execute(t, "verify", "--policies", one, "--objects", world); err != nil || !strings.HasPrefix(out, "Nothing was found: checked in ") {
		t.Errorf("of one policy: %v\n%s", err, out)
	}
	never := write(t, folder, "never.yaml", strings.ReplaceAll(fight, "NAME", "c")+"    - {name: never, when: object.metadata.name == \"\", do: [{labels: {set: {never: \"\"}}}]}\n")
	if out, err := execute(t, "verify", "--policies", never, "--objects", world); err != nil || !strings.Contains(out, "1 of 2 rules fired.\nNot fired: c: never\n") {
		t.Errorf("with a rule that never fires: %v\n%s", err, out)
	}
	other := write(t, folder, "b.yaml", strings.ReplaceAll(fight, "NAME", "b"))
	test := filepath.Join(folder, "test.yaml")
	out, err := execute(t, "verify", "--policies", one, "--policies", other, "--objects", world, "--out", test, "-o", "json")
	var got struct {
		Findings []struct{ Kind string }
		Explored struct{ States int }
		Test     string
	}
	if json.Unmarshal([]byte(out), &got) != nil || err == nil || len(got.Findings) != 1 || got.Findings[0].Kind != "writers" || got.Explored.States == 0 {
		t.Errorf("of two policies: %v\n%s", err, out)
	}
	if text, readErr := os.ReadFile(test); readErr != nil || string(text) != got.Test {
		t.Errorf("the file of the test has %q, %v", text, readErr)
	}
	if out, err := execute(t, "test", test); err == nil || !strings.Contains(out, "0 passed, 1 failed") {
		t.Errorf("the test comes to %v\n%s", err, out)
	}
}
