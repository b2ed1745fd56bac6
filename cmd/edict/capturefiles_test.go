package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCaptureKeepsFiles: the names and texts beside the test are those of a ConfigMap.
// They replace no file, and nothing is written through a symbolic link.
func TestCaptureKeepsFiles(t *testing.T) {
	t.Parallel()
	cluster := small()
	cluster.nodes[0].Labels["one"] = "other"
	kubeconfig := cluster.start(t)
	for name, tc := range map[string]struct {
		out     string
		prepare func(t *testing.T, folder string)
		want    string
	}{
		"the same content":     {"test.yaml", func(t *testing.T, folder string) { write(t, folder, "one.yaml", marking("one", "old")) }, ""},
		"a test before":        {"test.yaml", func(t *testing.T, folder string) { write(t, folder, "test.yaml", "old") }, ""},
		"other content":        {"test.yaml", func(t *testing.T, folder string) { write(t, folder, "one.yaml", "kept") }, "one.yaml exists with another content and is not overwritten: move it away, or give --out another folder"},
		"the name of the test": {"one.yaml", func(*testing.T, string) {}, "one.yaml would be the test and the text of the policy: give --out another name"},
		"a link":               {"test.yaml", func(t *testing.T, folder string) { link(t, folder, "one.yaml") }, "one.yaml is not a regular file and is not written to"},
		"a link of a test":     {"test.yaml", func(t *testing.T, folder string) { link(t, folder, "test.yaml") }, "test.yaml is not a regular file and is not written to"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, "elsewhere/kept", "kept")
			tc.prepare(t, folder)
			got := program(t, "capture", "one", "a", "--out", filepath.Join(folder, tc.out), "-n", "edict-system", "--kubeconfig", kubeconfig)
			if (got.code == 0) != (tc.want == "") || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("%d: %s", got.code, got.stderr)
			}
			if text := readFile(t, filepath.Join(folder, "elsewhere", "kept")); text != "kept" {
				t.Errorf("what a link leads to is now:\n%s", text)
			}
			if text, err := os.ReadFile(filepath.Join(folder, "one.yaml")); err == nil && tc.want != "" && string(text) != "kept" && name != "a link of a test" {
				t.Errorf("the file is now:\n%s", text)
			}
		})
	}
}

// link makes a symbolic link to a file in another folder.
func link(t *testing.T, folder, name string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(folder, "elsewhere", "kept"), filepath.Join(folder, name)); err != nil {
		t.Fatal(err)
	}
}

// TestBesides: two texts of one path are not both written.
func TestBesides(t *testing.T) {
	t.Parallel()
	b := besides{folder: t.TempDir(), test: "test.yaml"}
	for _, text := range []string{"a", "a"} {
		if err := b.add("x.rego", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.add("x.rego", []byte("b")); err == nil || !strings.Contains(err.Error(), "two different texts") {
		t.Errorf("%v", err)
	}
}

// TestCaptureAtAnAddress: a controller is not asked for its policy's text, so the test is
// written only where that is.
func TestCaptureAtAnAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	f := captureFlags{file: filepath.Join(folder, "test.yaml"), explain: explainFlags{policy: "one", output: "text"}}
	f.explain.live.endpoint.address = server.URL
	beside := filepath.Join(folder, "one.yaml")
	err := f.run(t.Context(), io.Discard, io.Discard)
	if want := "give the namespace by -n too, which writes it beside the test, or put it there as " + beside; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(f.file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a test is there: %v", err)
	}
	if err := os.WriteFile(beside, []byte(marking("one", "a")), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := f.text(t.Context(), io.Discard); err != nil || string(text) != "{}" {
		t.Errorf("%q, %v", text, err)
	}
}
