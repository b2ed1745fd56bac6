package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edict-dev/edict/test/program"
)

// TestQuarantine kills the process while a text is new. The next one does not
// load that text, compiles the others anew in a process with limits, runs them and what was
// good before, and loads the text again once it has changed.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a")}))
	c.put(policyMap("two", map[string]string{"two.yaml": marks("two", "two", "a")}))
	edict := c.process(program.Build(t))
	c.wantMarks("a", map[string]string{"one": "a", "two": "a"})
	c.wantJournal("")

	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "b")}))
	c.wantMarks("a", map[string]string{"one": "b", "two": "a"})
	c.wantJournal(`"one"`)
	if err := edict.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = edict.Wait()

	next := c.process(edict.Path)
	c.wantNote("one", map[string]string{"status": "Refused", "error": "quarantined: the process on", "policies": "one="})
	c.wantNote("two", map[string]string{"status": "Active"})
	if found := startedBy(t, next.Process.Pid, "compiler-child"); len(found) != 1 {
		t.Errorf("processes in which the texts are compiled anew: %v", found)
	}
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil, "two": nil}}})
	c.wantMarks("a", map[string]string{"one": "a", "two": "a"})
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "c")}))
	c.wantMarks("a", map[string]string{"one": "c", "two": "a"})
	c.wantNote("one", map[string]string{"status": "Active", "error": ""})
}

// TestCompilerKilled ends the process in which new texts are compiled first. The controller
// runs on, and the next text is compiled in another one.
func TestCompilerKilled(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "a")}))
	edict := c.process(program.Build(t))
	c.wantMarks("a", map[string]string{"one": "a"})
	if n := killCompilers(t, edict); n != 1 {
		t.Fatalf("%d processes compile policies", n)
	}
	c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", "b")}))
	c.put(policyMap("two", map[string]string{"two.yaml": marks("two", "two", "a")}))
	c.wantMarks("a", map[string]string{"one": "b", "two": "a"})
	if n := killCompilers(t, edict); n != 1 {
		t.Errorf("%d processes compile policies after the first one's end", n)
	}
}

// killCompilers ends the processes of a controller that compile policies, and returns how
// many there were.
func killCompilers(t *testing.T, edict *exec.Cmd) int {
	t.Helper()
	found := startedBy(t, edict.Process.Pid, "compiler-child")
	for _, pid := range found {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	return len(found)
}

// process starts the controller as a process of its own.
func (c *cluster) process(binary string) *exec.Cmd {
	c.t.Helper()
	log, err := os.Create(filepath.Join(c.t.TempDir(), "edict.log"))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(binary, "run", "--kubeconfig", c.plane.Kubeconfig(), "--policy-namespace", home, "--metrics-bind-address", "", "--health-probe-bind-address", "")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, err := os.ReadFile(log.Name()); err == nil && c.t.Failed() {
			c.t.Logf("the controller's log:\n%s", text)
		}
	})
	return cmd
}

// wantJournal waits until the notes about new texts have some text, or none.
func (c *cluster) wantJournal(text string) {
	c.t.Helper()
	eventually(c.t, "the journal", func() string {
		found, err := c.client.Resource(controllerRevisions).Namespace(home).Get(c.t.Context(), "edict-journal", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		got := found.GetAnnotations()["edict.dev/journal"]
		if text == "" && got == "{}" || text != "" && strings.Contains(got, text) {
			return ""
		}
		return "it is " + got
	})
}
