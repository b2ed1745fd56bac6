package controlplane

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// newModule writes a module with a main function of the given body.
func newModule(t *testing.T, body string) *module {
	t.Helper()
	Require(t)
	source := t.TempDir()
	files := map[string]string{
		"go.mod":  "module example.com/hello\n\ngo 1.26\n",
		"go.sum":  "",
		"main.go": "package main\n\nfunc main() { " + body + " }\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &module{source: source, binary: "hello", names: []string{"hallo"}, title: "hello"}
}

func TestTwoCallersBuildOnce(t *testing.T) {
	hello := newModule(t, `println("hello")`)
	cache := t.TempDir()
	var logs [2]bytes.Buffer
	var folders [2]string
	var group sync.WaitGroup
	for i := range logs {
		group.Go(func() {
			var err error
			if folders[i], err = hello.ensure(t.Context(), cache, &logs[i]); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if count := strings.Count(logs[0].String()+logs[1].String(), "built hello"); count != 1 || folders[0] != folders[1] {
		t.Errorf("built %d times, in %v:\n%s%s", count, folders, &logs[0], &logs[1])
	}
	output, err := exec.CommandContext(t.Context(), filepath.Join(folders[0], "hallo")).CombinedOutput()
	if err != nil || string(output) != "hello\n" {
		t.Errorf("the binary says %q (%v)", output, err)
	}
}

func TestFailedBuildShowsTheCompiler(t *testing.T) {
	broken := newModule(t, `undefined()`)
	cache := t.TempDir()
	for range 2 { // a failure is not taken for a binary
		_, err := broken.ensure(t.Context(), cache, new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestBuildEndsWithItsContext(t *testing.T) {
	hello := newModule(t, `println("hello")`)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if _, err := hello.ensure(ctx, t.TempDir(), new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "i/o timeout") {
		t.Errorf("the error is %v", err)
	}
}

func TestHashFollowsTheSources(t *testing.T) {
	hello := newModule(t, `println("hello")`)
	first, err := hello.hash(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hello.source, "go.sum"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := hello.hash(nil)
	if err != nil || first == second {
		t.Errorf("hashes %q and %q (%v)", first, second, err)
	}
}

func TestKubernetesVersionIsLinked(t *testing.T) {
	arguments, err := (&module{source: "kube"}).arguments()
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(arguments, " "); !strings.Contains(text, "version.gitVersion=v1.") {
		t.Errorf("no version in %s", text)
	}
}

func TestLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lock(ctx, path, nil); err == nil {
		t.Error("two hold one lock")
	}
	unlock()
	again, err := lock(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestLinkedVersions(t *testing.T) {
	for folder, want := range map[string]string{
		"kube": "-X k8s.io/component-base/version.gitVersion=v1.",
		"helm": "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=3",
		"etcd": "",
	} {
		text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if got := linkedVersions(string(text)); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: want %q in %q", folder, want, got)
		}
	}
}
