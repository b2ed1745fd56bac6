package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asProgram makes this test binary the program.
const asProgram = "EDICT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" || len(os.Args) > 1 && os.Args[1] == childName {
		main()
		return
	}
	os.Exit(m.Run())
}

// result is what a run of the program showed.
type result struct {
	code           int
	stdout, stderr string
}

// program runs a command with nothing to read.
func program(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := runEdict(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return result{code: code, stdout: stdout.String(), stderr: stderr.String()}
}

// TestExitCode: the process ends with the exit code of the command, and writes to its
// standard outputs.
func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"version"}, 0, "edict ", ""},
		{[]string{"schema", "none"}, exitUsage, "", "edict: "},
		{[]string{"check", "none.yaml"}, exitFindings, "", "edict: "},
		// The library that merges fields logs those that it does not know.
		{[]string{"verify", "--policies", "testdata/undeclared/policy.yaml", "--objects", "testdata/undeclared/objects.yaml", "--time", "0s"}, 0, "Nothing was found", ""},
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), os.Args[0], tc.args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != tc.code || !strings.HasPrefix(stdout.String(), tc.stdout) || !strings.HasPrefix(stderr.String(), tc.stderr) || tc.stderr == "" && stderr.Len() > 0 {
			t.Errorf("%v: got %d, %q, %q", tc.args, code, stdout.String(), stderr.String())
		}
	}
}

// execute runs a command in this process and returns all that it printed.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := root()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// golden compares a text with a file; UPDATE_GOLDEN=1 writes the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// write puts a text into a file of a folder and returns the file's path.
func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
