// Package program builds edict for the tests that start it.
package program

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/edict-dev/edict/test/race"
)

// Build builds edict from the working tree and returns the path of the program, whose name is
// edict. It is in the user's cache, one for each working tree, and is built only if its
// sources have changed.
//
// The build has the environment of the test, so that dependencies are not compiled in a
// further way. The sources are opened, so that go test does not take a result from its cache
// that belongs to another program.
func Build(t testing.TB) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	path, err := build()
	if err != nil {
		t.Fatalf("building edict: %v", err)
	}
	for _, source := range []string{"go.mod", "go.sum", "builtins", "cmd", "engine", "docs/schema", "examples"} {
		OpenFolders(t, filepath.Join(root, source))
	}
	return path
}

var build = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "edict", "program", fmt.Sprintf("%.8x", sha256.Sum256([]byte(root))))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close() // releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "edict")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./cmd/edict")
	cmd.Dir = root
	if race.Enabled { // make builds without cgo, too
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// moduleRoot returns the folder with go.mod that the working directory is in.
func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", errors.New("no go.mod above the working directory")
		}
	}
}

// OpenFolders opens all files of folders, so that go test takes no result from its cache if
// one has changed. Tests call it for files that only other processes read.
func OpenFolders(t testing.TB, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			return file.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
