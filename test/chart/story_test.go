package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/test/controlplane"
)

// command is a line of the story in the page for operators, and what it says that it prints.
type command struct{ line, prints string }

// story reads the commands of the page for operators.
func story(t *testing.T) (out []command) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Install, tune and roll back\n")
	_, block, _ := strings.Cut(section, "```console\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("the page has no such section any more")
	}
	for line := range strings.Lines(block) {
		if after, ok := strings.CutPrefix(line, "$ "); ok {
			out = append(out, command{line: strings.TrimSpace(after)})
		} else {
			out[len(out)-1].prints += line
		}
	}
	return out
}

// tools makes a folder with what the page asks for in the path. This control
// plane cannot reach Services, so helm is told of a URL for the webhook; and
// nobody sits here to edit, so the editor is a script.
func (i *installation) tools() (path string) {
	i.t.Helper()
	folder := i.t.TempDir()
	helm, err := controlplane.Helm(i.t.Context(), os.Stderr)
	if err != nil {
		i.t.Fatal(err)
	}
	binaries, err := controlplane.Build(i.t.Context(), os.Stderr)
	if err != nil {
		i.t.Fatal(err)
	}
	for name, script := range map[string]string{
		"kubectl": `exec ` + binaries.Kubectl + ` "$@"`,
		"edict":   `exec ` + i.binary + ` "$@"`,
		"helm": `case "$1" in install) set -- "$@" --set webhook.url=https://localhost:` + i.port + `/validate ;; esac
exec ` + helm + ` "$@"`,
		"editor": `sed -i 's|^  storage-pool-eligibility: .*|  storage-pool-eligibility: "zoneLabel: example.com/room"|' "$1"`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			i.t.Fatal(err)
		}
	}
	return folder
}

// spaces at the end of a line are kubectl's.
var trailing = regexp.MustCompile(` +\n`)

// TestStory does what the page tells operators to do, and sees what it says
// they see.
func TestStory(t *testing.T) {
	i := newInstallation(t, release+"-webhook")
	i.put("storage.yaml")
	tools := i.tools()
	for _, c := range story(t) {
		d := i.runs(tools, c)
		if strings.Contains(c.line, " get ") || strings.HasPrefix(c.line, "edict params ") { // an edit takes a moment
			for until := time.Now().Add(patience); d != "" && time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
				d = i.runs(tools, c)
			}
		}
		if d != "" {
			t.Errorf("$ %s (-page +printed):\n%s", c.line, d)
		}
	}
}

// patience is how long a machine that does much else may need.
const patience = 2 * time.Minute

// runs runs a command, and returns how what it prints differs.
func (i *installation) runs(tools string, c command) string {
	i.t.Helper()
	run := exec.CommandContext(i.t.Context(), "bash", "-e", "-o", "pipefail", "-c", c.line)
	run.Dir = root
	run.Env = append(helmEnvironment(i.t), "PATH="+tools+":"+os.Getenv("PATH"), "KUBECONFIG="+i.plane.Kubeconfig(), "KUBE_EDITOR="+filepath.Join(tools, "editor"))
	var failed strings.Builder
	run.Stderr = &failed
	printed, err := run.Output()
	if err != nil {
		i.t.Fatalf("$ %s\n%s%s%v", c.line, printed, failed.String(), err)
	}
	return cmp.Diff(c.prints, trailing.ReplaceAllString(string(printed), "\n"))
}
