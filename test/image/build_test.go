package image

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/controlplane"
)

const version = "v1.2.3-test"

var root = filepath.Join("..", "..")

// sources are what the binary and the image are made from.
var sources = []string{"docs/schema", "examples/cookbook", "Makefile", "Dockerfile", ".dockerignore", "go.mod", "go.sum", "api", "builtins", "charts", "cmd", "engine", "hack"}

// checkout copies the sources into a folder of their own, so that no test
// writes into the tree.
func checkout(t *testing.T) string {
	t.Helper()
	controlplane.Require(t)
	folder := t.TempDir()
	for _, name := range sources {
		from := filepath.Join(root, name)
		info, err := os.Stat(from)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			err = os.CopyFS(filepath.Join(folder, name), os.DirFS(from))
		} else {
			err = copyFile(from, filepath.Join(folder, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// build makes a target in a folder, and returns what the binary hashes to.
func build(t *testing.T, folder string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "make", append(arguments, "VERSION="+version)...)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	text, err := os.ReadFile(filepath.Join(folder, "bin", "image", "edict"))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

func TestTheSameBytesInEveryFolder(t *testing.T) {
	if hasBuildah() && !budget.Long() {
		t.Skip("TestImage compares the binaries of two folders")
	}
	one, two := checkout(t), checkout(t)
	first, second := build(t, one, "image-binary"), build(t, two, "image-binary")
	if first != second {
		t.Errorf("built in two folders the binary differs: %s, %s", first, second)
	}
	// The comparison could fail: what is linked in matters.
	main := filepath.Join(two, "cmd", "edict", "version.go")
	text, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"edict "`, `"EDICT "`, 1)
	if err := os.WriteFile(main, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if build(t, two, "image-binary") == first {
		t.Error("another text gives the same bytes: the build is not looked at")
	}
	output, err := exec.CommandContext(t.Context(), filepath.Join(one, "bin", "image", "edict"), "version").Output()
	if err != nil || !strings.HasPrefix(string(output), "edict "+version+"\n") {
		t.Errorf("the binary says %q (%v)", output, err)
	}
}
