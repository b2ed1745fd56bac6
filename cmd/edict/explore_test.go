package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// explored are the arguments of an exploration of a small world.
func explored(more ...string) []string {
	return append([]string{"explore", "--policies", "testdata/run/policy.yaml", "--objects", "testdata/run/objects.yaml", "--now", "2026-03-01T12:00:00Z"}, more...)
}

// TestExplore: the first line is the address of the page, which is served until the
// command is interrupted.
func TestExplore(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	out, in := io.Pipe()
	cmd := root()
	cmd.SetArgs(explored())
	cmd.SetOut(in)
	cmd.SetErr(io.Discard)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	for path, want := range map[string]string{"": "<title>Edict</title>", "main.js": "import", "api/world": `"name":"cordoned"`} {
		if status, body := get(t, address+path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%q: %d %s", path, status, body)
		}
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	if status, _ := get(t, "http://"+host+"/api/world"); status != http.StatusForbidden || !strings.HasPrefix(host, "127.0.0.1:") {
		t.Errorf("without the token, at %s: %d", host, status)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func get(t *testing.T, address string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestExploreExport(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "page.html")
	if out, err := execute(t, explored("--against", "testdata/run/policy.yaml", "--export", file)...); err != nil || !strings.Contains(out, "open it in a browser") {
		t.Fatalf("%v: %s", err, out)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := execute(t, explored("--against", "testdata/run/policy.yaml", "--export", "-")...)
	if err != nil || out != string(page) || !strings.Contains(out, `"compare?against=1"`) {
		t.Errorf("standard output has %d bytes, the file %d: %v", len(out), len(page), err)
	}
}
