package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/edict-dev/edict/test/program"
)

// withRego is a policy that labels every node by what a module says.
func withRego(name, module string) string {
	return fmt.Sprintf(`apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: %s}
spec:
  for: {apiVersion: v1, kind: Node}
  variables:
    - name: x
      rego:
        query: data.p.x
        input: "${object.metadata.name}"
        module: |
          package p
          %s
  rules:
    - name: mark
      do:
        - labels: {set: {%s: "${variables.x}"}}
`, name, strings.ReplaceAll(module, "\n", "\n          "), name)
}

// greedy asks for all memory in a few steps, unreadable while it is compiled.
var (
	greedy     = "v0 := [input]\nf(a) := array.concat(a, array.concat(a, a))\nv5 := f(f(f(f(f(v0)))))\nv10 := f(f(f(f(f(v5)))))\nx := sprintf(\"%v\", [count(f(f(f(f(f(f(v10)))))))])"
	unreadable = func() string {
		var b strings.Builder
		for _, v := range []string{"v", "w"} {
			fmt.Fprintf(&b, "%s0 := [1]\n", v)
			for i := 1; i <= 30; i++ {
				fmt.Fprintf(&b, "%s%d := [%s%d, %s%d]\n", v, i, v, i-1, v, i-1)
			}
		}
		return b.String() + "x := \"a\" if v30 == w30"
	}()
)

// The ends of the command lines of the processes that a controller starts.
const (
	regoProcess     = "\x00rego\x00"
	compilerProcess = "\x00policies\x00"
)

// startedBy returns the processes that another has started with a command.
func startedBy(t *testing.T, pid int, command string) (out []int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // of a thread that has ended
		}
		for field := range strings.FieldsSeq(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)) // it may have ended
			if strings.Contains(string(line), command) {
				out = append(out, child)
			}
		}
	}
	return out
}

// highest is the most memory that a process has had resident, in bytes.
func highest(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			kilobytes, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("the system does not tell")
	return 0
}

// TestRego: without Rego no process evaluates it. Modules that take all memory when they
// run end that process and not the controller, and those that would when they are compiled
// are refused; other policies go on, and it ends with the controller.
func TestRego(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.putSet("plain", map[string]string{"plain.yaml": marks("plain", "plain", "a")})
	edict := c.process(program.Build(t))
	c.wantMarks("a", map[string]string{"plain": "a"})
	if found := startedBy(t, edict.Process.Pid, regoProcess); len(found) > 0 {
		t.Errorf("there are processes: %v", found)
	}

	c.putSet("greedy", map[string]string{"greedy.yaml": withRego("greedy", greedy)})
	c.putSet("unreadable", map[string]string{"unreadable.yaml": withRego("unreadable", unreadable)})
	c.wants("unreadable", "Ready", "False", "is too large, the compiler may take")
	c.putSet("modest", map[string]string{"modest.yaml": withRego("modest", "x := concat(\"-\", [input, \"1\"])")})
	c.wantMarks("a", map[string]string{"plain": "a", "modest": "a-1"})
	c.merge("Node", "", "a", "", object{"metadata": object{"labels": object{"modest": nil, "plain": nil, "greedy": "x"}}})
	c.wantMarks("a", map[string]string{"plain": "a", "modest": "a-1", "greedy": "x"})
	if most := highest(t, edict.Process.Pid); most > 256<<20 {
		t.Errorf("the controller itself had %d MiB", most>>20)
	}

	found := startedBy(t, edict.Process.Pid, regoProcess)
	if len(found) != 1 {
		t.Fatalf("processes: %v", found)
	}
	if err := edict.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := edict.Wait(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(found[0], 0); err == nil {
		t.Error("the process that evaluates Rego has outlived the controller")
	}
}
