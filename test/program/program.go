// Package program builds edict for the tests that start it.
package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
// The sources are opened, so that go test does not take a result from its cache that belongs
// to another program.
func Build(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatalf("building edict: %v", err)
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
	if _, err := goCommand(root, "build", "-buildvcs=false", "-o", path, "./cmd/edict"); err != nil {
		return "", err
	}
	return path, openSources(root)
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

// goCommand runs go with the environment that built this test, so that dependencies are not
// compiled in a further way, and returns what it writes. With the race detector it
// builds as make does.
func goCommand(root string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if race.Enabled {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, failed.Stderr)
	}
	return out, err
}

// openSources opens what edict is built from, except for the modules it depends on, which
// go.mod and go.sum name.
func openSources(root string) error {
	list, err := goCommand(root, "list", "-deps", "-json=Dir,EmbedFiles,Module", "./cmd/edict")
	if err != nil {
		return err
	}
	paths := []string{filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")}
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			Dir        string
			EmbedFiles []string
			Module     *struct{ Main bool }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if p.Module == nil || !p.Module.Main {
			continue
		}
		paths = append(paths, p.Dir)
		for _, name := range p.EmbedFiles {
			paths = append(paths, filepath.Join(p.Dir, name))
		}
	}
	return open(paths)
}

// OpenFolders opens all files of folders, so that go test takes no result from its cache if
// one has changed. Tests call it for files that only other processes read.
func OpenFolders(t testing.TB, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, open([]string{path}))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func open(paths []string) error {
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}
