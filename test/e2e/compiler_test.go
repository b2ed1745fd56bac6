package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/edict-dev/edict/test/program"
)

// TestKilledByANewText kills the controller when a new text is active, as a text would that
// ends the process. The next controller compiles all texts in a process with limits and runs
// them, including the new one, until that is edited or disabled.
func TestKilledByANewText(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	c.putSet("two", map[string]string{"two.yaml": marks("two", "two", "a")})
	edict := c.process(program.Build(t))
	c.wantMarks("a", map[string]string{"one": "a", "two": "a"})
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "b")})
	c.wantMarks("a", map[string]string{"one": "b", "two": "a"})
	if err := edict.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = edict.Wait()
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil, "two": nil}}})

	next := c.process(edict.Path)
	c.wantMarks("a", map[string]string{"one": "b", "two": "a"})
	if found := startedBy(t, next.Process.Pid, compilerProcess); len(found) != 1 {
		t.Errorf("processes in which the texts are compiled anew: %v", found)
	}
	_ = next.Process.Kill()
	_ = next.Wait()
	c.patchSet("one", object{"mode": "Disabled"})
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil, "two": nil}}})
	c.process(edict.Path)
	c.wantMarks("a", map[string]string{"two": "a"})
	c.wants("one", "Ready", "True Disabled")
}

// TestCompilerKilled ends the process in which new texts are compiled first. The controller
// runs on, and the next text is compiled in another one.
func TestCompilerKilled(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	edict := c.process(program.Build(t))
	c.wantMarks("a", map[string]string{"one": "a"})
	if n := killCompilers(t, edict); n != 1 {
		t.Fatalf("%d processes compile policies", n)
	}
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "b")})
	c.putSet("two", map[string]string{"two.yaml": marks("two", "two", "a")})
	c.wantMarks("a", map[string]string{"one": "b", "two": "a"})
	if n := killCompilers(t, edict); n != 1 {
		t.Errorf("%d processes compile policies after the first one's end", n)
	}
}

// TestManyLargePolicies: a ConfigMap of a megabyte with policies that would keep a gigabyte does
// not end the controller, at any start. Those that fit and all other policies run; the others
// are refused, with what they keep. Memory stays below the limit of the chart.
func TestManyLargePolicies(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("one", map[string]string{"one.yaml": marks("one", "one", "a")})
	data := map[string]string{}
	for n := range 80 {
		var text strings.Builder
		fmt.Fprintf(&text, "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: large-%d}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n  variables:\n", n)
		for i := range 124 {
			fmt.Fprintf(&text, "    - {name: v%d, expression: 'object.data.a.matches(\"(a|b%d){1,100}(c|d){1,90}\")'}\n", i, i)
		}
		text.WriteString("  rules: [{name: r, when: variables.v1, do: [{log: {message: done}}]}]\n")
		data[fmt.Sprintf("large-%d.yaml", n)] = text.String()
	}
	c.putSet("large", data)
	binary := program.Build(t)
	for range 3 {
		c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"one": nil}}})
		edict := c.process(binary)
		c.wantMarks("a", map[string]string{"one": "a"})
		eventually(t, "the error of the large ConfigMap", func() string {
			if text := c.get("ConfigMap", home, "large").GetAnnotations()["edict.dev/error"]; !strings.Contains(text, "MiB in memory, and with those before it in") {
				return text
			}
			return ""
		})
		if peak := peakMemory(t, edict.Process.Pid); peak > 896<<10 {
			t.Errorf("the controller took %d KiB", peak)
		}
		_ = edict.Process.Kill()
		_ = edict.Wait()
	}
}

// peakMemory returns the most that a process and its children have had in memory, in KiB.
func peakMemory(t *testing.T, pid int) (sum int) {
	t.Helper()
	for _, pid := range append(startedBy(t, pid, compilerProcess), pid) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "VmHWM:")
		var peak int
		if _, err := fmt.Sscan(rest, &peak); err != nil {
			t.Fatal(err)
		}
		sum += peak
	}
	return sum
}

// killCompilers ends the processes of a controller that compile policies, and returns how
// many there were.
func killCompilers(t *testing.T, edict *exec.Cmd) int {
	t.Helper()
	found := startedBy(t, edict.Process.Pid, compilerProcess)
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
	args := []string{"run", "--kubeconfig", c.plane.Kubeconfig(), "-n", home, "--metrics-bind-address", "", "--health-probe-bind-address", ""}
	cmd := exec.Command(binary, args...)
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
