package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/compare"
	"github.com/edict-dev/edict/engine/live"
)

// TestPlanWithRecordedAnswers: what an earlier run was answered decides the keys that
// need an answer, from a file or from a running controller.
func TestPlanWithRecordedAnswers(t *testing.T) {
	t.Parallel()
	const policies, objects, now = "../../policies", "../../examples/storage", "2026-03-01T12:00:00Z"
	folder := t.TempDir()
	world, recorded := filepath.Join(folder, "world.json"), filepath.Join(folder, "recorded.json")
	if got := program(t, "snapshot", "--policies", policies, "--objects", objects, "--out", world); got.code != 0 {
		t.Fatal(got.stderr)
	}
	got := program(t, "simulate", "--policies", policies, "--objects", objects, "--now", now, "-o", "json")
	if err := os.WriteFile(recorded, []byte(got.stdout), 0o600); err != nil || !strings.Contains(got.stdout, `"builtin": "extender.`) {
		t.Fatal(err, got.stdout, got.stderr)
	}
	plan := func(more ...string) (out compare.Result) {
		got := program(t, append([]string{"plan", "--policies", policies, "--objects", world, "--now", now, "-o", "json"}, more...)...)
		if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != 2 {
			t.Fatalf("%v: exit code %d, %v: %s", more, got.code, err, got.stderr)
		}
		return out
	}
	without := plan()
	if len(without.NotDecided) == 0 {
		t.Fatal("every key is decided without answers: it is no case for this test")
	}
	answered := plan("--answers", objects+"/answers.json")
	if len(answered.NotDecided) != 0 || cmp.Equal(answered.Changes, without.Changes) {
		t.Fatalf("the answers make no difference: %v", answered.NotDecided)
	}
	const secret = "secret"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != live.AnswersPath || r.Header.Get("Authorization") != "Bearer "+secret {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		http.ServeFile(w, r, recorded)
	}))
	defer server.Close()
	for _, more := range [][]string{{"--recorded", recorded}, {"--address", server.URL, "--token", secret}} {
		if diff := cmp.Diff(answered, plan(more...)); diff != "" {
			t.Errorf("%v differs from a plan with answers (-want +got):\n%s", more, diff)
		}
	}
	for want, more := range map[string][]string{
		"nothing.json: no such file": {"--recorded", "nothing.json"},
		"world.yaml: document 1":     {"--recorded", writeFile(t, folder, "world.yaml", "a: b\n")},
		"reading the answers that the controller has recorded: " + server.URL + " answers 403": {"--address", server.URL},
	} {
		if got := program(t, append([]string{"plan", "--policies", policies, "--objects", world}, more...)...); got.code != 1 || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: exit code %d: %s", more, got.code, got.stderr)
		}
	}
}

func writeFile(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
