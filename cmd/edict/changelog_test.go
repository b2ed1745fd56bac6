package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// logTo returns the flags of a change log.
func logTo(t *testing.T, args ...string) *changeLogFlags {
	t.Helper()
	var f changeLogFlags
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.register(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	return &f
}

// TestChangeLogOutput: none by default, standard output, or a file that only its owner
// reads and that is appended to.
func TestChangeLogOutput(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	if w := logTo(t).writer(&stdout); w != nil {
		t.Errorf("without the flag: %T", w)
	}
	if w := logTo(t, "--change-log", "-").writer(&stdout); w != &stdout {
		t.Errorf("-: %T", w)
	}
	file := writeFile(t, t.TempDir(), "changes.jsonl", "old\n")
	for _, line := range []string{"one\n", "two\n"} { // of two processes
		f := logTo(t, "--change-log", file)
		if _, err := f.writer(&stdout).Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		f.close()
	}
	if got := readFile(t, file); got != "old\none\ntwo\n" || stdout.Len() > 0 {
		t.Errorf("%q, standard output %q", got, stdout.String())
	}
	fresh := filepath.Join(t.TempDir(), "fresh.jsonl")
	if _, err := logTo(t, "--change-log", fresh).writer(&stdout).Write([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(fresh); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestChangeLogRotates: a line that does not fit any more begins a new file; the old
// one is kept whole.
func TestChangeLogRotates(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	f := logTo(t, "--change-log", filepath.Join(folder, "changes.jsonl"), "--change-log-max-size", "1", "--change-log-max-backups", "3")
	w := f.writer(nil)
	lines := []string{strings.Repeat("a", 700<<10) + "\n", strings.Repeat("b", 700<<10) + "\n"}
	for _, line := range lines {
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	f.close()
	files, err := filepath.Glob(filepath.Join(folder, "changes*.jsonl"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	// The present file comes last: the name of an old one goes on with its time.
	if readFile(t, files[0]) != lines[0] || readFile(t, files[1]) != lines[1] {
		t.Errorf("%v do not have a line each", files)
	}
	if f.rotated.MaxBackups != 3 || f.rotated.MaxSize != 1 {
		t.Errorf("%d MB, %d backups", f.rotated.MaxSize, f.rotated.MaxBackups)
	}
	if d := logTo(t, "--change-log", "x"); d.size != 100 || d.backups != 5 {
		t.Errorf("the defaults are %d MB, %d backups", d.size, d.backups)
	}
}
