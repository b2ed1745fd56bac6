package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// console finds the blocks of commands with their outputs.
var console = regexp.MustCompile("(?ms)^```console\n(.*?)^```")

// TestSession runs the commands of questions.md as a reader would, and compares
// what they print. UPDATE_GOLDEN=1 writes what they print into the page.
func TestSession(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "edict"), "./cmd/edict")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile("questions.md")
	if err != nil {
		t.Fatal(err)
	}
	s := session{t: t, root: root, env: append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TMP="+t.TempDir())}
	now := console.ReplaceAllStringFunc(string(text), s.block)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile("questions.md", []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(text), now); diff != "" || s.commands == 0 {
		t.Errorf("%d commands, questions.md (-page +printed):\n%s", s.commands, diff)
	}
}

type session struct {
	t        *testing.T
	root     string
	env      []string
	commands int
}

// block runs the commands of a block, and returns it with what they print.
func (s *session) block(block string) string {
	var out strings.Builder
	out.WriteString("```console\n")
	for line := range strings.Lines(block) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			out.WriteString(line)
			out.WriteString(s.run(command))
		}
	}
	return out.String() + "```"
}

// run returns what a command prints. Its exit code may say that it has found
// something.
func (s *session) run(command string) string {
	s.t.Helper()
	s.commands++
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", command)
	cmd.Dir, cmd.Env = s.root, s.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 2 {
		s.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	for _, variable := range s.env {
		if tmp, ok := strings.CutPrefix(variable, "TMP="); ok {
			out = []byte(strings.ReplaceAll(string(out), tmp, "$TMP"))
		}
	}
	return string(out)
}
