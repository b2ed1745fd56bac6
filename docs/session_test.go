package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/test/program"
)

// console finds the blocks of commands with their outputs, and those of the tutorial's files.
var console = regexp.MustCompile("(?ms)^```(?:console\n|yaml\n# file: )(.*?)^```")

// TestSession runs the commands of the pages as a reader would, and compares what
// they print. UPDATE_GOLDEN=1 writes what they print into the pages.
func TestSession(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(program.Build(t))
	program.OpenFolders(t, "../examples", "../policies", "../policy-tests")
	folders := map[string]string{"TMP": t.TempDir(), "TUTORIAL": t.TempDir()}
	for _, page := range []string{"../README.md", "questions.md", "tutorial.md", "cookbook.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			s := session{t: t, root: root, folders: folders, env: append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))}
			for name, folder := range folders {
				s.env = append(s.env, name+"="+folder)
			}
			s.page(page)
		})
	}
}

type session struct {
	t    *testing.T
	root string
	env  []string
	// folders are those of the run, by the variable that stands for them.
	folders  map[string]string
	commands int
}

// page runs the commands of a page.
func (s *session) page(name string) {
	s.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	now := console.ReplaceAllStringFunc(string(text), s.block)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(name, []byte(now), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(text), now); diff != "" || s.commands == 0 {
		s.t.Errorf("%d commands, %s (-page +printed):\n%s", s.commands, name, diff)
	}
}

// block runs the commands of a block, and returns it with what they print; or writes a file,
// which the commands before do not see.
func (s *session) block(block string) string {
	if file, ok := strings.CutPrefix(block, "```yaml\n# file: "); ok {
		writeTutorial(s.t, s.folders["TUTORIAL"], strings.TrimSuffix(file, "```"))
		return block
	}
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
	for name, folder := range s.folders {
		out = []byte(strings.ReplaceAll(string(out), folder, "$"+name))
	}
	return string(out)
}
