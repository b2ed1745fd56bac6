package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// decided are the arguments by which a command decides on the world of these tests.
func decided(command ...string) []string {
	return append(command, "--policies", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml", "--now", "2026-03-01T12:00:00Z")
}

// one reads standard output, which must be one document of JSON.
func one(t *testing.T, args ...string) map[string]any {
	t.Helper()
	got := program(t, args...)
	var out map[string]any
	if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != 0 || got.stderr != "" {
		t.Fatalf("%v: exit code %d, %v\n%s%s", args, got.code, err, got.stdout, got.stderr)
	}
	return out
}

// TestSnapshotAsJSON: one document, the snapshot itself or what was written where.
func TestSnapshotAsJSON(t *testing.T) {
	t.Parallel()
	list := one(t, decided("snapshot", "-o", "json")...)
	items, _ := list["items"].([]any)
	if list["kind"] != "List" || len(items) == 0 {
		t.Errorf("%v", list)
	}
	for _, name := range []string{"world.json", "world.yaml"} {
		file := filepath.Join(t.TempDir(), name)
		said := one(t, decided("snapshot", "-o", "json", "--out", file)...)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if said["file"] != file || said["objects"] != float64(len(items)) || said["bytes"] != float64(len(text)) || json.Valid(text) != strings.HasSuffix(name, ".json") {
			t.Errorf("%v: a file of %d bytes", said, len(text))
		}
	}
	if got := program(t, decided("snapshot", "-o", "xml")...); got.code != 64 || !strings.Contains(got.stderr, `invalid argument "xml" for "-o, --output" flag: it is text or json`) {
		t.Errorf("%d: %s", got.code, got.stderr)
	}
}

// TestCaptureAsJSON: one document, the test itself or what was written where.
func TestCaptureAsJSON(t *testing.T) {
	t.Parallel()
	policy, key := firstKey(t)
	test := one(t, decided("capture", policy, key, "-o", "json")...)
	if test["kind"] != "PolicyTest" {
		t.Errorf("%v", test)
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	said := one(t, decided("capture", policy, key, "-o", "json", "--out", file)...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var written map[string]any
	if err := yaml.Unmarshal(text, &written); err != nil || written["kind"] != "PolicyTest" || said["file"] != file || said["policy"] != policy {
		t.Errorf("%v, %v: %s", said, err, text)
	}
	if got := program(t, decided("capture", policy, key, "-o", "xml")...); got.code != 64 || !strings.Contains(got.stderr, `invalid argument "xml" for "-o, --output" flag: it is text or json`) {
		t.Errorf("%d: %s", got.code, got.stderr)
	}
}

// firstKey returns a policy of these tests and a key of it.
func firstKey(t *testing.T) (policy, key string) {
	t.Helper()
	result := one(t, append(simulated(), "-o", "json")...)
	effects, _ := result["effects"].([]any)
	if len(effects) == 0 {
		t.Fatalf("nothing is written: %v", result)
	}
	first, _ := effects[0].(map[string]any)
	name, _ := first["key"].(map[string]any)
	policy, _ = first["policy"].(string)
	key, _ = name["name"].(string)
	if namespace, _ := name["namespace"].(string); namespace != "" {
		key = namespace + "/" + key
	}
	return policy, key
}

// TestPaused: test, simulate and plan say which policy would be paused, by the limits of the
// flags, and end as without.
func TestPaused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	policy := write(t, folder, "p.yaml", "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n"+
		"  rules: [{name: r, do: [{labels: {set: {a: null}}}]}]\n")
	var objects strings.Builder
	for i := range 12 {
		fmt.Fprintf(&objects, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, namespace: n, labels: {a: b}}}\n", i)
	}
	world := write(t, folder, "world.txt.yaml", objects.String())
	test := write(t, folder, "p_test.yaml", "apiVersion: edict.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: t}\nspec:\n  policies: [p.yaml]\n  world: [world.txt.yaml]\n  cases: [{name: c, expect: {errors: []}}]\n")
	const now = "2026-01-01T00:00:00Z"
	for _, args := range [][]string{
		{"simulate", "--policies", policy, "--objects", world, "--now", now},
		{"plan", "--policies", policy, "--objects", world, "--now", now},
		{"test", test},
	} {
		for limit, want := range map[string]string{
			"":         `{"at":"` + now + `","policy":"p","what":"removals","count":12,"limit":10}`,
			"5 per 1m": `{"at":"` + now + `","policy":"p","what":"removals","count":12,"limit":5}`,
			"none":     "",
		} {
			args := slices.Clone(args)
			if limit != "" {
				args = append(args, "--default-removal-limit", limit)
			}
			out, err := execute(t, append(args, "-o", "json")...)
			if compact := strings.Join(strings.Fields(out), ""); strings.Contains(compact, `"what"`) != (want != "") || !strings.Contains(compact, want) {
				t.Errorf("%v: %s", args, out)
			}
			text, again := execute(t, args...)
			if strings.Contains(text, "p would be paused at +0s: 12 removals within 1m0s, and its limit is ") != (want != "") {
				t.Errorf("%v: %s", args, text)
			}
			if plans := args[0] == "plan"; (err != nil) != plans || (again != nil) != plans { // there are changes
				t.Errorf("%v: %v, %v", args, err, again)
			}
		}
	}
}
